using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>One wake. Only the client's scheduler changes it.</summary>
    internal sealed class Wake
    {
        /// <summary>
        /// The time from the end of the requests to that of the wake, in seconds: the user sees something in place of
        /// what was not fetched.
        /// </summary>
        public const double SecondsAfterRequests = 0.05;

        private readonly CancellationTokenSource source = new CancellationTokenSource();

        public Wake(int number, double deadline)
        {
            Number = number;
            Deadline = deadline;
        }

        /// <summary>Wakes are counted. A catch-up serves those that came before it began.</summary>
        public int Number { get; }

        /// <summary>The <see cref="IClientClock.Uptime"/> at which its requests end.</summary>
        public double Deadline { get; }

        /// <summary>
        /// <see cref="ClientState.UserChanges"/> when it began. The wake shows nothing after the user has changed.
        /// </summary>
        public int UserChanges { get; set; }

        /// <summary>Cancelled when the system takes the time away.</summary>
        public CancellationToken Cancellation => source.Token;

        /// <summary>The notification of the push, while it is not decided how it ends.</summary>
        public PushId Fetching { get; set; }

        /// <summary>The call of the presenter that shows how it ended.</summary>
        public Task Showing { get; set; }

        /// <summary>Whether the push has been verified and its notification noted.</summary>
        public bool IsNoted { get; set; }

        /// <summary>Whether the time is up, or the system has taken it away.</summary>
        public bool IsAbandoned { get; private set; }

        /// <summary>Ends the wake's own requests.</summary>
        public void Abandon()
        {
            IsAbandoned = true;
            source.Cancel();
        }
    }
}
