using System;

namespace SecurePush
{
    /// <summary>
    /// Decides after each try of a request whether to try again. It waits for nothing itself.
    /// A request is repeated after errors that can heal: no connection, a time-out, 408, 429 and 5xx. After 401 the
    /// credentials are refreshed once. Everything else is final.
    /// </summary>
    internal sealed class FetchPlan
    {
        /// <summary>The shortest time for a try, in seconds. A shorter one only costs battery.</summary>
        private const double ShortestTry = 0.5;

        /// <summary>The delays fit four quick tries into the total time.</summary>
        private static readonly double[] Delays = { 1, 2, 3, 5 };

        private readonly double deadline;
        private readonly double secondsPerTry;
        private int retries;
        private bool hasRefreshed;

        /// <param name="deadline">The <see cref="IClientClock.Uptime"/> at which everything ends.</param>
        /// <param name="secondsPerTry">The longest try.</param>
        public FetchPlan(double deadline, double secondsPerTry)
        {
            this.deadline = deadline;
            this.secondsPerTry = secondsPerTry;
        }

        /// <summary>The time-out of a try that begins now; <c>null</c> if there is no time for one.</summary>
        public double? Timeout(double uptime)
        {
            var left = Left(uptime);
            return left >= ShortestTry ? Math.Min(left, secondsPerTry) : (double?)null;
        }

        /// <summary>What to do after a response that is not 2xx.</summary>
        public FetchStep AfterResponse(int status, double? retryAfter, double uptime)
        {
            if (status == 401)
            {
                if (hasRefreshed)
                {
                    return FetchStep.Finish;
                }

                hasRefreshed = true;
                return FetchStep.RefreshCredentials;
            }

            var canHeal = status == 408 || status == 429 || (status >= 500 && status <= 599);
            return canHeal ? Retry(retryAfter, uptime) : FetchStep.Finish;
        }

        /// <summary>What to do after a try without a response.</summary>
        public FetchStep AfterError(TransportError error, double uptime) =>
            error == TransportError.Unreachable || error == TransportError.TimedOut
                ? Retry(null, uptime)
                : FetchStep.Finish;

        /// <summary>What to do when the credentials cannot be read or refreshed now.</summary>
        public FetchStep AfterMissingCredentials(double uptime) => Retry(null, uptime);

        /// <summary>The time until the deadline, in whole milliseconds: sums of seconds are not exact.</summary>
        private double Left(double uptime) => Math.Round((deadline - uptime) * 1000) / 1000;

        private FetchStep Retry(double? wanted, double uptime)
        {
            var delay = Math.Max(Delays[Math.Min(retries, Delays.Length - 1)], wanted ?? 0);
            if (double.IsInfinity(delay) || !(delay + ShortestTry <= Left(uptime)))
            {
                return FetchStep.Finish;
            }

            retries++;
            return FetchStep.Retry(delay);
        }
    }

    /// <summary>The next step of a plan.</summary>
    internal struct FetchStep
    {
        public static readonly FetchStep Finish = new FetchStep(FetchStepKind.Finish, 0);
        public static readonly FetchStep RefreshCredentials = new FetchStep(FetchStepKind.RefreshCredentials, 0);

        private FetchStep(FetchStepKind kind, double delay)
        {
            Kind = kind;
            Delay = delay;
        }

        public FetchStepKind Kind { get; }

        /// <summary>The seconds before the next try.</summary>
        public double Delay { get; }

        public static FetchStep Retry(double delay) => new FetchStep(FetchStepKind.Retry, delay);
    }

    /// <summary>The kinds of steps.</summary>
    internal enum FetchStepKind
    {
        Finish,
        Retry,
        RefreshCredentials,
    }
}
