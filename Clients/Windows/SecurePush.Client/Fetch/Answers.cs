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
            var answer = Answer.Read(body, members => new SecretAnswer(
                Answer.Secret(members) ?? throw JsonScanner.Malformed(), members["Unread"]?.Count()));
            return answer.Secret.Id == id ? answer : throw new SecurePushException(DiagnosticCode.WrongId);
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
        public static InboxAnswer Read(byte[] body) => Answer.Read(body, members =>
        {
            var list = members.Required("Notifications").Elements(MaxEntries);
            var entries = list.Select(element => new Entry(element.Members())).ToList();
            return new InboxAnswer(entries, members.Required("Unread").Count(), members.ContainsKey("Next"));
        });

        internal sealed class Entry
        {
            public Entry(JsonMembers members)
            {
                Id = Answer.Id(members);
                Secret = Answer.Secret(members);
                IsRead = members["Read"]?.Boolean() ?? false;
                CreatedAt = Answer.Time(members["CreatedAt"]);
            }

            public PushId Id { get; }

            public bool IsRead { get; }

            /// <summary>When it was sent, if the server says so.</summary>
            public DateTimeOffset? CreatedAt { get; }

            /// <summary>The secret, if the server sent payloads.</summary>
            public SecretNotification Secret { get; }
        }
    }

    /// <summary>What answers have in common.</summary>
    internal static class Answer
    {
        /// <summary>Reads an answer, which is an object.</summary>
        /// <exception cref="SecurePushException">It is malformed.</exception>
        public static T Read<T>(byte[] body, Func<JsonMembers, T> read)
        {
            try
            {
                return read(JsonValue.Parse(body).Members());
            }
            catch (FormatException)
            {
                throw new SecurePushException(DiagnosticCode.MalformedAnswer);
            }
        }

        public static PushId Id(JsonMembers members) =>
            PushId.From(members.Required("Id").Text()) ?? throw JsonScanner.Malformed();

        /// <summary>A time (RFC 3339); <c>null</c> if there is none, or if it is something else.</summary>
        public static DateTimeOffset? Time(JsonValue value) =>
            value?.IsString == true && DateTimeOffset.TryParse(
                value.Text(), CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var time)
                ? time.ToUniversalTime()
                : (DateTimeOffset?)null;

        /// <summary>The secret, not opened yet; <c>null</c> if the members have no payload.</summary>
        public static SecretNotification Secret(JsonMembers members)
        {
            var payload = members["Payload"];
            return payload == null
                ? null
                : new SecretNotification(Id(members), null, payload.Json(), members["Read"]?.Boolean() ?? false)
                    .With(Display(members["Display"]?.Text() ?? "full"), Time(members["ExpiresAt"]));
        }

        /// <summary>Who shows it. An unknown value counts as the strictest.</summary>
        private static MessageDisplay Display(string text) =>
            text == "full" ? MessageDisplay.Full
            : text == "redacted" ? MessageDisplay.Redacted : MessageDisplay.App;
    }
}
