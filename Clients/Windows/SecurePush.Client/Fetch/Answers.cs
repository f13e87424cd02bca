using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace SecurePush
{
    /// <summary>The answer to <c>GET /api/notifications/{id}</c>.</summary>
    internal sealed class SecretAnswer
    {
        private SecretAnswer(SecretNotification secret, int? unread)
        {
            Secret = secret;
            Unread = unread;
        }

        public SecretNotification Secret { get; }

        /// <summary>How many notifications the user has not read; <c>null</c> if the server did not say.</summary>
        public int? Unread { get; }

        /// <summary>Reads the answer.</summary>
        /// <param name="body">The body.</param>
        /// <param name="id">The ID that was asked for.</param>
        /// <exception cref="SecurePushException">It is malformed, or for another ID.</exception>
        public static SecretAnswer Read(byte[] body, PushId id)
        {
            try
            {
                var members = JsonValue.Parse(body).Members();
                var secret = AnswerMembers.Secret(members) ?? throw JsonScanner.Malformed();
                var unread = members.TryGetValue("Unread", out var count) ? count.Count() : (int?)null;
                return secret.Id == id
                    ? new SecretAnswer(secret, unread)
                    : throw new SecurePushException(DiagnosticCode.WrongId);
            }
            catch (FormatException)
            {
                throw new SecurePushException(DiagnosticCode.MalformedAnswer);
            }
        }
    }

    /// <summary>A page of <c>GET /api/notifications</c>.</summary>
    internal sealed class InboxAnswer
    {
        /// <summary>The most that the server sends on a page.</summary>
        public const int MaxEntries = 200;

        private InboxAnswer(IReadOnlyList<Entry> entries, int unread, bool hasNext)
        {
            Entries = entries;
            Unread = unread;
            HasNext = hasNext;
        }

        public IReadOnlyList<Entry> Entries { get; }

        public int Unread { get; }

        /// <summary>Whether there is another page.</summary>
        public bool HasNext { get; }

        /// <summary>Reads the answer.</summary>
        /// <exception cref="SecurePushException">It is malformed.</exception>
        public static InboxAnswer Read(byte[] body)
        {
            try
            {
                var members = JsonValue.Parse(body).Members();
                var list = AnswerMembers.Required(members, "Notifications").Elements(MaxEntries);
                var entries = list.Select(element => new Entry(element.Members())).ToList();
                return new InboxAnswer(
                    entries, AnswerMembers.Required(members, "Unread").Count(), members.ContainsKey("Next"));
            }
            catch (FormatException)
            {
                throw new SecurePushException(DiagnosticCode.MalformedAnswer);
            }
        }

        internal sealed class Entry
        {
            public Entry(IReadOnlyDictionary<string, JsonValue> members)
            {
                Id = AnswerMembers.Id(members);
                Secret = AnswerMembers.Secret(members);
                IsRead = members.TryGetValue("Read", out var read) && read.Boolean();
                CreatedAt = AnswerMembers.Time(members, "CreatedAt");
            }

            public PushId Id { get; }

            public bool IsRead { get; }

            /// <summary>When it was sent, if the server says so.</summary>
            public DateTimeOffset? CreatedAt { get; }

            /// <summary>The secret, if the server sent payloads.</summary>
            public SecretNotification Secret { get; }
        }
    }

    /// <summary>The members that both answers have.</summary>
    internal static class AnswerMembers
    {
        public static JsonValue Required(IReadOnlyDictionary<string, JsonValue> members, string name) =>
            members.TryGetValue(name, out var value) ? value : throw JsonScanner.Malformed();

        public static PushId Id(IReadOnlyDictionary<string, JsonValue> members) =>
            PushId.From(Required(members, "Id").Text()) ?? throw JsonScanner.Malformed();

        /// <summary>A time (RFC 3339); <c>null</c> if there is none, or if it is something else.</summary>
        public static DateTimeOffset? Time(IReadOnlyDictionary<string, JsonValue> members, string name) =>
            members.TryGetValue(name, out var value) && value.IsString && DateTimeOffset.TryParse(
                value.Text(), CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var time)
                ? time.ToUniversalTime()
                : (DateTimeOffset?)null;

        /// <summary>Who is to show it. What this version does not know is as strict as can be.</summary>
        private static MessageDisplay Display(IReadOnlyDictionary<string, JsonValue> members)
        {
            var text = members.TryGetValue("Display", out var value) ? value.Text() : "full";
            return text == "full" ? MessageDisplay.Full
                : text == "redacted" ? MessageDisplay.Redacted : MessageDisplay.App;
        }

        /// <summary>The secret, not opened yet; <c>null</c> if the members have no payload.</summary>
        public static SecretNotification Secret(IReadOnlyDictionary<string, JsonValue> members)
        {
            if (!members.TryGetValue("Payload", out var payload))
            {
                return null;
            }

            var wasRead = members.TryGetValue("Read", out var read) && read.Boolean();
            return new SecretNotification(Id(members), null, payload.Json(), wasRead)
                .With(Display(members), Time(members, "ExpiresAt"));
        }
    }
}
