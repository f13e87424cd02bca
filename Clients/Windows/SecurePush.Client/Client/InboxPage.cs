using System;
using System.Collections.Generic;

namespace SecurePush
{
    /// <summary>A page of the user's inbox, oldest first.</summary>
    public sealed class InboxPage
    {
        internal InboxPage(IReadOnlyList<InboxEntry> entries, int unread, bool hasNext)
        {
            Entries = entries;
            Unread = unread;
            HasNext = hasNext;
        }

        /// <summary>The notifications.</summary>
        public IReadOnlyList<InboxEntry> Entries { get; }

        /// <summary>How many notifications of the whole inbox are unread.</summary>
        public int Unread { get; }

        /// <summary>Whether there is another page: after the last ID of this one.</summary>
        public bool HasNext { get; }
    }

    /// <summary>A notification in the inbox.</summary>
    public sealed class InboxEntry
    {
        internal InboxEntry(
            PushId id, bool isRead, DateTimeOffset? createdAt, SecretNotification secret = null,
            DiagnosticCode code = null)
        {
            Id = id;
            IsRead = isRead;
            CreatedAt = createdAt;
            Secret = secret;
            Code = code;
        }

        /// <summary>The ID, for <see cref="SecurePushClient.ReadAsync"/>.</summary>
        public PushId Id { get; }

        /// <summary>Whether one of the user's devices has read it.</summary>
        public bool IsRead { get; }

        /// <summary>When it was sent; <c>null</c> if the server does not say.</summary>
        public DateTimeOffset? CreatedAt { get; }

        /// <summary>
        /// The secret, of a page with secrets (<see cref="SecurePushClient.InboxWithSecretsAsync"/>); <c>null</c> if it
        /// cannot be opened.
        /// </summary>
        public SecretNotification Secret { get; }

        /// <summary>Why a page with secrets does not have this one; <c>null</c> if nothing is wrong.</summary>
        public DiagnosticCode Code { get; }
    }
}
