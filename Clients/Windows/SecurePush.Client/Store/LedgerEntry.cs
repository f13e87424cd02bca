namespace SecurePush
{
    /// <summary>The client's progress with one notification.</summary>
    internal enum Progress
    {
        /// <summary>It must be fetched.</summary>
        Pending,

        /// <summary>
        /// The server has no such notification for this user, or this device cannot decrypt it. Another push for it
        /// tries again.
        /// </summary>
        Gone,

        /// <summary>Fetched, and about to be shown by one process.</summary>
        Claimed,

        /// <summary>Shown. Final.</summary>
        Shown,

        /// <summary>Withdrawn by the sender, or read on another device. Final.</summary>
        Withdrawn,
    }

    /// <summary>One notification that the client knows.</summary>
    internal sealed class LedgerEntry
    {
        public LedgerEntry(PushId id, Progress progress, double at)
        {
            Id = id;
            Progress = progress;
            At = at;
        }

        public PushId Id { get; }

        public Progress Progress { get; set; }

        /// <summary>The process that has claimed it.</summary>
        public string Process { get; set; }

        /// <summary>When the progress changed: the <see cref="IClientClock.Uptime"/> of that process.</summary>
        public double At { get; set; }

        /// <summary>Whether the user has seen the generic text or the prompt for it.</summary>
        public bool IsNoticed { get; set; }

        /// <summary>
        /// How many requests for it have no clear answer: those that are in flight, and those whose answer was lost.
        /// The server may have marked it as read for each of them.
        /// </summary>
        public int OpenRequests { get; set; }

        /// <summary>Whether this device may have been the first of the user's devices that fetched it.</summary>
        public bool IsFirstReader { get; set; }

        /// <summary>
        /// Whether this device's own fetch may have caused a withdrawal (see <see cref="ClientState.Withdraw"/>).
        /// </summary>
        public bool MayHaveBeenRead =>
            Progress != Progress.Withdrawn && (IsFirstReader || (Progress == Progress.Pending && OpenRequests > 0));

        /// <summary>Whether nothing is left to do.</summary>
        public bool IsSettled => Progress != Progress.Pending && Progress != Progress.Claimed;

        public LedgerEntry Clone() => (LedgerEntry)MemberwiseClone();

        public bool IsClaimedBy(string process) => Progress == Progress.Claimed && Process == process;

        /// <summary>Whether another process has claimed it.</summary>
        public bool IsClaimedBesides(string process) => Progress == Progress.Claimed && Process != process;

        public void Become(Progress progress, double now, string process = null)
        {
            Progress = progress;
            Process = process;
            At = now;
        }

        /// <summary>
        /// The seconds until the claim expires. One of an earlier start of the device has expired, and so has one of
        /// the future.
        /// </summary>
        /// <param name="process">The process that asks.</param>
        /// <param name="now">Its <see cref="IClientClock.Uptime"/>.</param>
        /// <param name="limits">The limits.</param>
        public double SecondsLeft(string process, double now, ClientLimits limits)
        {
            var age = now - At;
            var isOfThisStart = Process == null || ProcessName.AreOfOneStart(Process, process);
            return isOfThisStart && age >= 0 && age < limits.ClaimSeconds ? limits.ClaimSeconds - age : 0;
        }
    }

    /// <summary>The answer to a wish to show a secret that was fetched.</summary>
    internal struct Claim
    {
        /// <summary>Show it.</summary>
        public bool IsGranted { get; set; }

        /// <summary>The seconds until the claim of another process expires; 0 if there is none.</summary>
        public double HeldFor { get; set; }

        /// <summary>Whether another process was about to show it, and has not said whether it did.</summary>
        public bool IsInDoubt { get; set; }

        /// <summary>
        /// Whether its withdrawal came while it was being fetched, and another device is the reader. It is to be
        /// removed.
        /// </summary>
        public bool IsWithdrawn { get; set; }
    }

    /// <summary>How the claim of a process ended.</summary>
    internal enum ClaimEnd
    {
        /// <summary>Noted.</summary>
        Noted,

        /// <summary>The notification was withdrawn in the meantime: it must be removed from the screen.</summary>
        Withdrawn,

        /// <summary>The process has no claim any more.</summary>
        Lost,
    }

    /// <summary>The state at the moment at which the client asked for a notification.</summary>
    internal sealed class FetchRequest
    {
        /// <summary>
        /// Whether this device has asked for it before without an answer. The server may have marked it as read then.
        /// </summary>
        public bool IsRepeated { get; set; }

        /// <summary><see cref="ClientState.UserChanges"/>.</summary>
        public int UserChanges { get; set; }
    }
}
