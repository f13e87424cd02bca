using System;
using System.Collections.Generic;
using System.Linq;

namespace SecurePush
{
    /// <summary>The state of a client. Stores treat it as one value that can be coded.</summary>
    public sealed class ClientState
    {
        /// <summary>The list of reports is limited, so that the state stays small.</summary>
        private const int MaxUnreported = 200;

        /// <summary>Makes an empty state.</summary>
        public ClientState()
        {
        }

        /// <summary>The user whose notifications the state is about.</summary>
        internal string Owner { get; set; }

        /// <summary>
        /// How often the user has changed. The result of a request from before a change is not shown.
        /// </summary>
        internal int UserChanges { get; set; }

        /// <summary>The notifications that the client knows.</summary>
        internal SecretLedger Ledger { get; set; } = new SecretLedger();

        /// <summary>The newest notification that the client has seen in the inbox.</summary>
        internal PushId Cursor { get; set; }

        /// <summary>Whether the user was asked to log in.</summary>
        internal bool IsPrompted { get; set; }

        /// <summary>
        /// Withdrawn notifications that this device may have been the first to read: the server is asked whether they
        /// still exist.
        /// </summary>
        internal List<PushId> Unconfirmed { get; private set; } = new List<PushId>();

        /// <summary>What was shown and the server has not been told, oldest first.</summary>
        internal List<ShownReport> Unreported { get; private set; } = new List<ShownReport>();

        /// <summary>The device's registration.</summary>
        internal RegistrationRecord Registration { get; set; } = new RegistrationRecord();

        /// <summary>The user for whom the key for end-to-end encryption was made.</summary>
        internal string KeyOwner { get; set; }

        /// <summary>The last log-out whose notifications and registration were forgotten.</summary>
        internal string LastDeparture { get; set; }

        /// <summary>The mark of the device on which the installation was registered.</summary>
        internal string DeviceMark { get; set; }

        /// <summary>Keys for pushes from <c>GET /api/push-keys</c>. They replace the configured ones.</summary>
        internal PublicKeySet PushKeys { get; private set; }

        /// <summary>When <see cref="PushKeys"/> came, in seconds since 1970.</summary>
        internal double? PushKeysReadAt { get; private set; }

        /// <summary>When a push with an unknown key last made the client ask for them, in seconds since 1970.</summary>
        internal double? PushKeysAskedAt { get; set; }

        /// <summary>The process that refreshes the credentials now.</summary>
        internal string LeaseProcess { get; set; }

        /// <summary>When it began: the <see cref="IClientClock.Uptime"/>.</summary>
        internal double LeaseTakenAt { get; set; }

        /// <summary>A copy that changes on its own.</summary>
        public ClientState Clone()
        {
            var copy = (ClientState)MemberwiseClone();
            copy.Ledger = Ledger.Clone();
            copy.Unconfirmed = new List<PushId>(Unconfirmed);
            copy.Unreported = new List<ShownReport>(Unreported);
            return copy;
        }

        /// <summary>The state as JSON text in UTF-8, for a store.</summary>
        public byte[] Encode() => ClientStateCodec.Encode(this);

        /// <summary>Reads what <see cref="Encode"/> has made.</summary>
        /// <exception cref="FormatException">It is damaged.</exception>
        public static ClientState Decode(byte[] data) => ClientStateCodec.Decode(data);

        /// <summary>Takes over what was noted while the store could not be written.</summary>
        internal void Merge(ClientState other)
        {
            if (other.UserChanges < UserChanges)
            {
                // Another process has changed the user in the meantime.
                return;
            }

            if (other.UserChanges != UserChanges || (Owner != null && other.Owner != Owner))
            {
                UserChanges = other.UserChanges;
                Ledger = new SecretLedger();
                Cursor = null;
                Unconfirmed.Clear();
                Unreported.Clear();
            }

            Owner = other.Owner;
            Ledger.Merge(other.Ledger);
            Cursor = other.Cursor ?? Cursor;
            IsPrompted = other.IsPrompted;
            Unconfirmed.AddRange(other.Unconfirmed.Where(id => !Unconfirmed.Contains(id)).ToList());
            other.Unreported.ForEach(Report);

            // A state that could not be read knows nothing of them. The registration of another device was forgotten.
            var isOthers = DeviceMark != null && other.DeviceMark != null && other.DeviceMark != DeviceMark;
            if (isOthers || other.Registration.InstallationId != null)
            {
                Registration = other.Registration;
            }

            KeyOwner = other.KeyOwner ?? KeyOwner;
            LastDeparture = other.LastDeparture ?? LastDeparture;
            DeviceMark = other.DeviceMark ?? DeviceMark;
            PushKeysAskedAt = other.PushKeysAskedAt ?? PushKeysAskedAt;
            if (other.PushKeys != null)
            {
                ReplacePushKeys(other.PushKeys, other.PushKeysReadAt);
            }
        }

        /// <summary>Stores the server's keys for pushes.</summary>
        internal void ReplacePushKeys(PublicKeySet keys, double? readAt)
        {
            PushKeys = keys;
            PushKeysReadAt = readAt;
        }

        /// <summary>
        /// Notes the user. Another user's notifications are forgotten; returns the IDs that are to be removed from the
        /// screen.
        /// </summary>
        internal List<PushId> Adopt(string userName)
        {
            if (Owner != null && Owner != userName)
            {
                return Forget(userName);
            }

            Owner = userName;
            return new List<PushId>();
        }

        /// <summary>
        /// Forgets the user's notifications. The installation's ID, the registration and the keys stay. Returns the IDs
        /// that are to be removed from the screen.
        /// </summary>
        internal List<PushId> Forget(string newOwner)
        {
            var ids = Ledger.Entries.Select(entry => entry.Id).ToList();
            Ledger = new SecretLedger();
            Cursor = null;
            IsPrompted = false;
            Unconfirmed.Clear();
            Unreported.Clear();
            Owner = newOwner;
            UserChanges++;
            return ids;
        }

        /// <summary>
        /// Forgets everything of the user who has logged out, the registration included, once: another user may have
        /// logged in when a second process does it.
        /// </summary>
        internal void Depart(string departure)
        {
            if (LastDeparture == departure)
            {
                return;
            }

            Forget(null);
            Registration = new RegistrationRecord();
            KeyOwner = null;
            LastDeparture = departure;
        }

        /// <summary>
        /// Notes a withdrawal, and tells whether the notification is to be removed from the screen now.
        /// A withdrawal also follows when one of the user's devices has read the notification
        /// (<c>DISPATCH_WITHDRAW=read</c>), and reaches that device too. If this device may have been the first to read
        /// it, the server has to confirm the withdrawal first. That includes a request without an answer: the process
        /// may have died, or the network failed, after the server had marked it as read.
        /// An unsigned withdrawal proves nothing, so the server has to confirm it in any case.
        /// </summary>
        internal bool Withdraw(PushId id, bool isSigned, double now, ClientLimits limits)
        {
            var entry = Ledger.Find(id);
            if (entry?.MayHaveBeenRead == true || (!isSigned && entry?.Progress != Progress.Withdrawn))
            {
                AddBounded(Unconfirmed, id);
                return false;
            }

            EndWithdrawn(id, now, limits);
            return true;
        }

        /// <summary>Notes that a notification is withdrawn for good.</summary>
        internal void EndWithdrawn(PushId id, double now, ClientLimits limits)
        {
            Unconfirmed.Remove(id);
            Ledger.Withdraw(id, now, limits);
        }

        /// <summary>
        /// Ends the prompt to log in if nothing waits behind it, and tells whether it is to be removed from the screen.
        /// </summary>
        internal bool EndEmptyPrompt()
        {
            var isOver = IsPrompted && Ledger.Waiting.Count == 0;
            IsPrompted = IsPrompted && !isOver;
            return isOver;
        }

        /// <summary>Notes that the server is being asked for a notification.</summary>
        /// <param name="id">The notification.</param>
        /// <param name="userChanges">The count when the client learned of it.</param>
        /// <returns><c>null</c> if the user has changed since then: nothing is to be asked.</returns>
        internal FetchRequest Request(PushId id, int userChanges) =>
            UserChanges > userChanges
                ? null
                : new FetchRequest { IsRepeated = Ledger.OpenRequest(id), UserChanges = UserChanges };

        /// <summary>Notes that the server has marked nothing as read for a request.</summary>
        internal void Unrequest(PushId id, FetchRequest request)
        {
            if (UserChanges == request.UserChanges)
            {
                Ledger.CloseRequest(id);
            }
        }

        /// <summary>
        /// Claims the right to show a secret, unless the user has changed since the client asked for it. If it was
        /// withdrawn while this device, its first reader, fetched it, it is shown, and the server has to confirm the
        /// withdrawal. If another device was the first, the withdrawal holds.
        /// </summary>
        /// <param name="secret">The secret.</param>
        /// <param name="request">The request that brought it.</param>
        /// <param name="isSigned">Whether withdrawals are signed. Those that are not prove nothing.</param>
        /// <param name="process">The process that wants to show it.</param>
        /// <param name="now">The <see cref="IClientClock.Uptime"/>.</param>
        /// <param name="limits">The limits.</param>
        internal Claim Claim(
            SecretNotification secret, FetchRequest request, bool isSigned, string process, double now,
            ClientLimits limits)
        {
            if (UserChanges > request.UserChanges)
            {
                // A damaged store begins at 0 again. Its secrets are shown.
                return new Claim();
            }

            var isFirstReader = !secret.WasRead || request.IsRepeated;
            var entry = Ledger.Find(secret.Id);
            if (isSigned && Unconfirmed.Contains(secret.Id) && entry?.Progress == Progress.Pending
                && !entry.IsFirstReader && !isFirstReader)
            {
                EndWithdrawn(secret.Id, now, limits);
                return new Claim { IsWithdrawn = true };
            }

            var wasWithdrawn = entry?.Progress == Progress.Withdrawn;
            var claim = Ledger.Claim(secret.Id, process, isFirstReader, now, limits);
            if (claim.IsGranted && wasWithdrawn)
            {
                AddBounded(Unconfirmed, secret.Id);
            }

            return claim;
        }

        /// <summary>Notes that a secret is shown, so that the server is told.</summary>
        internal void Report(PushId id) => Report(ShownReport.OfSecret(id));

        /// <summary>Notes what is shown, so that the server is told.</summary>
        internal void Report(ShownReport report)
        {
            if (!Unreported.Exists(known => known.ToString() == report.ToString()))
            {
                Unreported.Add(report);
            }

            if (Unreported.Count > MaxUnreported)
            {
                Unreported.RemoveAt(0);
            }
        }

        /// <summary>
        /// Takes the exclusive right to refresh the credentials, unless another process has it. A process of an earlier
        /// start of the device has not.
        /// </summary>
        /// <param name="process">The name of this process.</param>
        /// <param name="uptime">The <see cref="IClientClock.Uptime"/>: a clock that jumps ends no lease.</param>
        /// <param name="seconds">How long a lease lasts.</param>
        internal bool TakeLease(string process, double uptime, double seconds)
        {
            var age = uptime - LeaseTakenAt;
            if (LeaseProcess != null && LeaseProcess != process && age >= 0 && age < seconds
                && ProcessName.AreOfOneStart(LeaseProcess, process))
            {
                return false;
            }

            LeaseProcess = process;
            LeaseTakenAt = uptime;
            return true;
        }

        /// <summary>Gives the right back, if the process has it.</summary>
        internal bool EndLease(string process)
        {
            LeaseProcess = LeaseProcess == process ? null : LeaseProcess;
            return true;
        }

        private static void AddBounded(List<PushId> ids, PushId id)
        {
            if (!ids.Contains(id))
            {
                ids.Add(id);
            }

            if (ids.Count > MaxUnreported)
            {
                ids.RemoveAt(0);
            }
        }
    }
}
