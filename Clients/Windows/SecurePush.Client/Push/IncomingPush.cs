namespace SecurePush
{
    /// <summary>
    /// A push, read but not yet believed: the client verifies its signature before it acts on it.
    /// Reading never fails. Only the ID, the withdrawal, the time and the signature are read.
    /// </summary>
    public sealed class IncomingPush
    {
        /// <summary>Longer pushes are refused unread, in characters. WNS allows 5,120 bytes.</summary>
        public const int MaxLength = 8 << 10;

        private const int MaxWordLength = 128;

        private IncomingPush(PushId id, bool isWithdrawal, string timestamp, string signature)
        {
            Id = id;
            IsWithdrawal = isWithdrawal;
            Timestamp = timestamp;
            Signature = signature;
        }

        /// <summary>The notification's ID; <c>null</c> if it cannot be used.</summary>
        public PushId Id { get; }

        /// <summary>Whether the push asks to remove the notification.</summary>
        public bool IsWithdrawal { get; }

        /// <summary>The time of the signature, as the push has it.</summary>
        internal string Timestamp { get; }

        /// <summary>The signature, as the push has it.</summary>
        internal string Signature { get; }

        /// <summary>
        /// Reads the content of a raw notification: <c>ID</c>, <c>ID ts sig</c>, <c>ID withdraw</c> or
        /// <c>ID withdraw ts sig</c>.
        /// </summary>
        public static IncomingPush FromRaw(string content)
        {
            var unusable = new IncomingPush(null, false, null, null);
            if (content == null || content.Length > MaxLength)
            {
                return unusable;
            }

            var words = WithoutLineEnd(content).Split(' ');
            var id = PushId.From(words[0]);
            if (id == null)
            {
                return unusable;
            }

            var isWithdrawal = words.Length > 1 && words[1] == "withdraw";
            var first = isWithdrawal ? 2 : 1;
            switch (words.Length - first)
            {
                case 0:
                    return new IncomingPush(id, isWithdrawal, null, null);
                case 2:
                    return new IncomingPush(id, isWithdrawal, Short(words[first]), Short(words[first + 1]));
                default:
                    return unusable;
            }
        }

        /// <summary>Makes a push of its parts, for the test vectors.</summary>
        internal static IncomingPush FromParts(PushId id, bool isWithdrawal, string timestamp, string signature) =>
            new IncomingPush(id, isWithdrawal, timestamp, signature);

        private static string WithoutLineEnd(string content)
        {
            if (content.EndsWith("\r\n", System.StringComparison.Ordinal))
            {
                return content.Substring(0, content.Length - 2);
            }

            return content.EndsWith("\n", System.StringComparison.Ordinal)
                ? content.Substring(0, content.Length - 1)
                : content;
        }

        /// <summary>A text that can be a time or a signature; a longer one is dropped.</summary>
        private static string Short(string word) => word.Length <= MaxWordLength ? word : null;
    }
}
