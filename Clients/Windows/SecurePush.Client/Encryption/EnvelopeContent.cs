using System;
using System.Globalization;
using System.Linq;

namespace SecurePush
{
    /// <summary>What an envelope contains: what the sender says, and when.</summary>
    internal sealed class EnvelopeContent
    {
        /// <summary>How far a sender's clock may be ahead, in seconds: a day.</summary>
        private const double MaxAhead = 86400;

        /// <summary>The oldest content, in seconds: 90 days.</summary>
        private const double MaxAge = 90 * 86400;

        private EnvelopeContent(JsonMembers members)
        {
            Id = Guid.ParseExact(Uuid(members.Required("id").Text()), "D");
            At = Seconds(members.Required("at"));
            Value = members.Required("content");
            ExpiresAt = members.ContainsKey("exp") ? Seconds(members["exp"]) : (double?)null;
        }

        /// <summary>The sender's ID: a second envelope with it is a replay.</summary>
        public Guid Id { get; }

        /// <summary>When it was made, in seconds since 1970.</summary>
        public double At { get; }

        /// <summary>When it expires; <c>null</c>: never.</summary>
        public double? ExpiresAt { get; }

        /// <summary>The content.</summary>
        public JsonValue Value { get; }

        /// <summary>Reads the decrypted bytes. Blanks at their end hide the length.</summary>
        /// <exception cref="SecurePushException">With <c>SP-DECRYPT</c>: they are no content.</exception>
        public static EnvelopeContent Parse(byte[] content)
        {
            try
            {
                return new EnvelopeContent(JsonValue.Parse(content, true).Members());
            }
            catch (FormatException)
            {
                throw Envelope.Unopenable();
            }
        }

        /// <summary>
        /// Whether it is neither too old nor made by a clock that is too far ahead, in whole seconds.
        /// </summary>
        public bool IsTimely(double now) =>
            At - Math.Floor(now) <= MaxAhead && Math.Floor(now) - At <= MaxAge;

        /// <summary>.NET reads other forms, too: blanks around it, for example.</summary>
        private static string Uuid(string text) =>
            text.Length == 36 && text.All(
                digit => digit == '-' || (digit < 128 && Uri.IsHexDigit(digit))) ? text : throw JsonScanner.Malformed();

        private static double Seconds(JsonValue value)
        {
            var json = value.Json();
            return json.Length <= 12 && json.All(digit => digit >= '0' && digit <= '9')
                ? double.Parse(json, NumberStyles.None, CultureInfo.InvariantCulture)
                : throw JsonScanner.Malformed();
        }
    }
}
