
namespace SecurePush
{
    /// <summary>What a device has shown for a notification, as the server is told.</summary>
    internal sealed class ShownReport
    {
        private const string Generic = "generic";

        /// <summary>The version of the packages (<c>Package.props</c>).</summary>
        private const string Sdk = "windows/0.2.0-alpha.1";

        private ShownReport(PushId id, bool isGeneric, string code)
        {
            Id = id;
            IsGeneric = isGeneric;
            Code = code;
        }

        public PushId Id { get; }

        /// <summary>Whether it was the generic text.</summary>
        public bool IsGeneric { get; }

        /// <summary>Why; <c>null</c> if the app shows the secret, or if it was the secret.</summary>
        public string Code { get; }

        public static ShownReport OfSecret(PushId id) => new ShownReport(id, false, null);

        public static ShownReport OfGeneric(PushId id, DiagnosticCode code) =>
            new ShownReport(id, true, code?.ToString());

        /// <summary>Reads what <see cref="ToString"/> has made; <c>null</c> if it is anything else.</summary>
        public static ShownReport From(string line)
        {
            var words = line.Split(' ');
            var id = PushId.From(words[0]);
            return id == null || words.Length > 3 || (words.Length > 1 && words[1] != Generic)
                ? null
                : new ShownReport(id, words.Length > 1, words.Length > 2 ? words[2] : null);
        }

        /// <summary>The body of the request.</summary>
        /// <param name="installation">The installation's ID; <c>null</c> if there is none.</param>
        public byte[] Body(string installation) => new JsonWriter()
            .Text("Text", IsGeneric ? Generic : "secret").Text("Sdk", Sdk).Text("Code", Code)
            .Text("DeviceId", installation).Bytes();

        public override string ToString() => Id + (IsGeneric ? " " + Generic : "") + (Code == null ? "" : " " + Code);
    }
}
