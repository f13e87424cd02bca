using System;
using System.Collections.Generic;
using System.Linq;

namespace SecurePush
{
    /// <summary>
    /// The notifications that the client knows, and how far it has come with each of them.
    /// This is what keeps a secret from being lost or shown twice when the process dies between two steps: "pending" is
    /// stored before anything is asked; "claimed" is stored when the payload is here, before it is shown; "shown" is
    /// stored after it was shown. After a crash a claim is in doubt, and the presenter is asked whether the user sees
    /// the secret.
    /// </summary>
    internal sealed class SecretLedger
    {
        /// <summary>Higher counts make no difference.</summary>
        private const int MaxOpenRequests = 1000;

        private readonly List<LedgerEntry> entries = new List<LedgerEntry>();

        /// <summary>In the order in which the client learned of them.</summary>
        public IReadOnlyList<LedgerEntry> Entries => entries;

        /// <summary>The notifications that are still to be shown, in order.</summary>
        public List<PushId> Waiting => Pending.Select(entry => entry.Id).ToList();

        /// <summary>
        /// The notifications that are still to be shown: first those that have not failed, so that one that always
        /// fails does not keep the others waiting.
        /// </summary>
        public List<PushId> FetchOrder => Pending.OrderBy(entry => entry.IsNoticed).Select(entry => entry.Id).ToList();

        /// <summary>The notification that was shown last.</summary>
        public PushId LastShown => entries.LastOrDefault(entry => entry.Progress == Progress.Shown)?.Id;

        private IEnumerable<LedgerEntry> Pending => entries.Where(entry => entry.Progress == Progress.Pending);

        public LedgerEntry Find(PushId id) => entries.FindLast(entry => entry.Id == id);

        public SecretLedger Clone()
        {
            var copy = new SecretLedger();
            copy.entries.AddRange(entries.Select(entry => entry.Clone()));
            return copy;
        }

        /// <summary>Adds a stored entry.</summary>
        public void Restore(LedgerEntry entry) => entries.Add(entry);

        /// <summary>
        /// Notes that a notification exists, for example because a push or the inbox names it. Tells whether it is to
        /// be fetched. One that was shown or withdrawn is not; one that is claimed may be.
        /// </summary>
        public bool Learn(PushId id, double now, ClientLimits limits)
        {
            var entry = Find(id);
            if (entry == null)
            {
                Append(new LedgerEntry(id, Progress.Pending, now), limits);
                return true;
            }

            if (entry.Progress == Progress.Gone)
            {
                entry.Become(Progress.Pending, now);
            }

            return !entry.IsSettled;
        }

        /// <summary>
        /// Notes that the server is being asked for a notification, and tells whether an earlier request has no clear
        /// answer.
        /// </summary>
        public bool OpenRequest(PushId id)
        {
            var entry = Find(id);
            if (entry == null)
            {
                return false;
            }

            entry.OpenRequests = Math.Min(entry.OpenRequests + 1, MaxOpenRequests);
            return entry.OpenRequests > 1;
        }

        /// <summary>
        /// Notes that a request has a clear answer: the server has marked nothing as read for it, or the secret is
        /// here.
        /// </summary>
        public void CloseRequest(PushId id)
        {
            var entry = Find(id);
            if (entry != null)
            {
                entry.OpenRequests = Math.Max(0, entry.OpenRequests - 1);
            }
        }

        /// <summary>Claims the right to show a secret.</summary>
        /// <param name="id">The notification.</param>
        /// <param name="process">The process that wants to show it.</param>
        /// <param name="isFirstReader">
        /// Whether no device of the user had fetched it before. Then a withdrawal that came in the meantime may be the
        /// echo of this fetch.
        /// </param>
        /// <param name="now">The <see cref="IClientClock.Uptime"/>.</param>
        /// <param name="limits">The limits.</param>
        public Claim Claim(PushId id, string process, bool isFirstReader, double now, ClientLimits limits)
        {
            var entry = Find(id);
            if (entry == null)
            {
                entry = new LedgerEntry(id, Progress.Pending, now);
                Append(entry, limits);
            }

            if (entry.IsClaimedBesides(process))
            {
                var seconds = entry.SecondsLeft(process, now, limits);
                return new Claim { HeldFor = seconds, IsInDoubt = seconds <= 0 };
            }

            var isOpen = entry.Progress == Progress.Pending || entry.Progress == Progress.Gone
                || (entry.Progress == Progress.Withdrawn && isFirstReader);
            if (isOpen)
            {
                entry.Become(Progress.Claimed, now, process);
                entry.IsFirstReader |= isFirstReader;
                CloseRequest(id);
            }

            return new Claim { IsGranted = isOpen };
        }

        /// <summary>The claims of other processes that have expired.</summary>
        public List<LedgerEntry> Doubts(string process, double now, ClientLimits limits) =>
            entries.Where(
                entry => entry.IsClaimedBesides(process) && entry.SecondsLeft(process, now, limits) <= 0).ToList();

        /// <summary>
        /// How long to wait until the claims of other processes have expired, in seconds; <c>null</c> if there are
        /// none.
        /// </summary>
        public double? SecondsOfClaims(string process, double now, ClientLimits limits)
        {
            var claims = entries.Where(entry => entry.IsClaimedBesides(process)).ToList();
            return claims.Count == 0
                ? (double?)null
                : claims.Max(entry => entry.SecondsLeft(process, now, limits));
        }

        /// <summary>Ends a claim. If the user does not see the secret, it waits for the next wake.</summary>
        public ClaimEnd Settle(PushId id, string process, bool isShown, double now)
        {
            var entry = Find(id);
            if (entry?.Progress == Progress.Withdrawn)
            {
                return ClaimEnd.Withdrawn;
            }

            if (entry == null || !entry.IsClaimedBy(process))
            {
                return ClaimEnd.Lost;
            }

            entry.Become(isShown ? Progress.Shown : Progress.Pending, now);
            return ClaimEnd.Noted;
        }

        /// <summary>Notes that a notification was withdrawn, also before its push has come.</summary>
        public void Withdraw(PushId id, double now, ClientLimits limits)
        {
            var entry = Find(id);
            if (entry == null)
            {
                Append(new LedgerEntry(id, Progress.Withdrawn, now), limits);
            }
            else
            {
                entry.Become(Progress.Withdrawn, now);
            }
        }

        /// <summary>
        /// Notes that the user sees the generic text or the prompt for a notification, and tells whether it is the
        /// first time.
        /// </summary>
        /// <param name="id">The notification.</param>
        /// <param name="end">How a pending notification ends; <see cref="Progress.Pending"/> if it does not.</param>
        public bool Notice(PushId id, Progress end = Progress.Pending)
        {
            var entry = Find(id);
            if (entry == null)
            {
                return true;
            }

            if (entry.Progress == Progress.Pending)
            {
                entry.Progress = end;
            }

            var isFirst = !entry.IsNoticed;
            entry.IsNoticed = true;
            return isFirst;
        }

        /// <summary>Takes over what was noted while the store could not be written.</summary>
        public void Merge(SecretLedger other)
        {
            foreach (var entry in other.entries)
            {
                var index = entries.FindLastIndex(candidate => candidate.Id == entry.Id);
                if (index < 0)
                {
                    entries.Add(entry.Clone());
                    continue;
                }

                var known = entries[index];
                if (entry.Progress > known.Progress)
                {
                    entries[index] = entry.Clone();
                }

                entries[index].IsNoticed |= entry.IsNoticed || known.IsNoticed;
                entries[index].OpenRequests = Math.Max(entry.OpenRequests, known.OpenRequests);
            }
        }

        /// <summary>
        /// Adds an entry, and forgets the oldest: of those that are settled, if there are any. Nothing is forgotten by
        /// its age, because a clock that jumps would show a secret again.
        /// </summary>
        private void Append(LedgerEntry added, ClientLimits limits)
        {
            entries.Add(added);
            while (entries.Count > Math.Max(1, limits.MaxRememberedIds))
            {
                entries.RemoveAt(Math.Max(0, entries.FindIndex(entry => entry.IsSettled)));
            }
        }
    }
}
