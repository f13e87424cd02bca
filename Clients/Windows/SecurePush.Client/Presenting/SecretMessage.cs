using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace SecurePush
{
    /// <summary>
    /// A message: a secret that is an object with a text and with what else the app and the system can use (contract,
    /// section L). It does not show in <see cref="ToString"/>.
    /// </summary>
    public sealed class SecretMessage
    {
        private const int MaxActions = 3;
        private static readonly string[] Levels = { "passive", "active", "time-sensitive" };

        private SecretMessage(JsonMembers members)
        {
            Body = Text(members, "Body", 4000) ?? throw JsonScanner.Malformed();
            Title = Text(members, "Title", 200);
            Link = Text(members, "Link", 2000);
            Category = Text(members, "Category", 64);
            Thread = Text(members, "Thread", 64);
            var level = Text(members, "Level", 64);
            Level = level == null ? (MessageLevel?)null : (MessageLevel)Array.IndexOf(Levels, level);
            Data = members["Data"]?.Json();
            var actions = (members["Actions"]?.Elements(MaxActions) ?? new JsonValue[0])
                .Select(action => new MessageAction(action.Members())).ToArray();
            Actions = actions;
            if ((level != null && !Levels.Contains(level))
                || actions.Select(action => action.Id).Distinct().Count() < actions.Length)
            {
                throw JsonScanner.Malformed();
            }
        }

        /// <summary>The title; <c>null</c> if there is none.</summary>
        public string Title { get; }

        /// <summary>The text.</summary>
        public string Body { get; }

        /// <summary>
        /// An address for the app; <c>null</c> if there is none. The SDK never opens it, and the app checks it first.
        /// </summary>
        public string Link { get; }

        /// <summary>The sender's name for the kind of message; <c>null</c> if there is none.</summary>
        public string Category { get; }

        /// <summary>What belongs together has the same thread; <c>null</c> if there is none.</summary>
        public string Thread { get; }

        /// <summary>How urgent it is; <c>null</c> if the sender does not say.</summary>
        public MessageLevel? Level { get; }

        /// <summary>At most three things that the user can do.</summary>
        public IReadOnlyList<MessageAction> Actions { get; }

        /// <summary>JSON text for the app; <c>null</c> if there is none.</summary>
        public string Data { get; }

        /// <inheritdoc/>
        public override string ToString() => "message";

        /// <summary>Reads a value; <c>null</c> if it is no message. Unknown members are ignored.</summary>
        internal static SecretMessage From(JsonValue value)
        {
            try
            {
                return value.IsObject ? new SecretMessage(value.Members()) : null;
            }
            catch (FormatException)
            {
                return null;
            }
        }

        internal static string Text(JsonMembers members, string name, int maxBytes)
        {
            var text = members[name]?.Text();
            return Encoding.UTF8.GetByteCount(text ?? "") <= maxBytes ? text : throw JsonScanner.Malformed();
        }
    }

    /// <summary>How urgent a message is.</summary>
    public enum MessageLevel
    {
        /// <summary>It comes without a sound.</summary>
        Passive,

        /// <summary>As others do.</summary>
        Active,

        /// <summary>It may break through what keeps others away.</summary>
        TimeSensitive,
    }

    /// <summary>Something that the user can do with a message.</summary>
    public sealed class MessageAction
    {
        internal MessageAction(JsonMembers members)
        {
            Id = SecretMessage.Text(members, "Id", 32);
            Title = SecretMessage.Text(members, "Title", 64);
            TakesText = members["Input"]?.Boolean() ?? false;
            if (!IsId(Id) || string.IsNullOrEmpty(Title))
            {
                throw JsonScanner.Malformed();
            }
        }

        /// <summary>The ID: 1 to 32 of <c>a-z 0-9 -</c>.</summary>
        public string Id { get; }

        /// <summary>What stands on the button.</summary>
        public string Title { get; }

        /// <summary>Whether the user can write a text with it.</summary>
        public bool TakesText { get; }

        internal static bool IsId(string text) =>
            !string.IsNullOrEmpty(text) && text.Length <= 32 && text.All(character =>
                (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') || character == '-');
    }
}
