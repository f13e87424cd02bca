using System;

namespace SecurePush
{
    /// <summary>
    /// The ID of a notification, as it is in a push and in the path of a fetch.
    /// It is opaque. The grammar only makes it harmless in a path, in a log and in a file: 1 to 64 of
    /// <c>A-Z a-z 0-9 - _</c>.
    /// </summary>
    public sealed class PushId : IEquatable<PushId>
    {
        /// <summary>The longest ID, in characters.</summary>
        public const int MaxLength = 64;

        private readonly string text;

        private PushId(string text)
        {
            this.text = text;
        }

        /// <summary>Takes an ID; <c>null</c> for a text that breaks the grammar.</summary>
        public static PushId From(string text)
        {
            if (text == null || text.Length < 1 || text.Length > MaxLength)
            {
                return null;
            }

            foreach (var character in text)
            {
                if (!IsAllowed(character))
                {
                    return null;
                }
            }

            return new PushId(text);
        }

        /// <summary>Whether two IDs are the same.</summary>
        public bool Equals(PushId other) => !ReferenceEquals(other, null) && text == other.text;

        /// <inheritdoc/>
        public override bool Equals(object obj) => Equals(obj as PushId);

        /// <inheritdoc/>
        public override int GetHashCode() => text.GetHashCode();

        /// <summary>The text.</summary>
        public override string ToString() => text;

        /// <summary>Whether two IDs are the same.</summary>
        public static bool operator ==(PushId one, PushId other) =>
            ReferenceEquals(one, null) ? ReferenceEquals(other, null) : one.Equals(other);

        /// <summary>Whether two IDs are different.</summary>
        public static bool operator !=(PushId one, PushId other) => !(one == other);

        private static bool IsAllowed(char character) =>
            (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z')
            || (character >= '0' && character <= '9') || character == '-' || character == '_';
    }
}
