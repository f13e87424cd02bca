using System;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>The time, for the fetch plan and the memory of shown IDs. Tests inject a simulated one.</summary>
    public interface IClientClock
    {
        /// <summary>
        /// The time of day, in seconds since 1970. It can jump, so only ages of days are measured with it.
        /// </summary>
        double UnixTime { get; }

        /// <summary>
        /// Seconds since some moment in the past. It never goes backwards. Deadlines are measured with it.
        /// </summary>
        double Uptime { get; }

        /// <summary>
        /// A text that is different after each start of the device, without blanks, at most 64 characters; empty if it
        /// is not known. Leases and claims of another start are over: two processes compare <see cref="Uptime"/> only
        /// if they have the same one.
        /// </summary>
        string BootId { get; }

        /// <summary>Waits; not at all for a number that is not positive.</summary>
        /// <exception cref="OperationCanceledException">As soon as the token is cancelled.</exception>
        Task SleepAsync(double seconds, CancellationToken cancellation);
    }

    /// <summary>Helps with clocks.</summary>
    internal static class ClientClockExtensions
    {
        /// <summary>Waits, and tells whether the time has passed; not if the token is cancelled before.</summary>
        public static async Task<bool> TrySleepAsync(
            this IClientClock clock, double seconds, CancellationToken cancellation)
        {
            try
            {
                await clock.SleepAsync(seconds, cancellation);
                return true;
            }
            catch (OperationCanceledException)
            {
                return false;
            }
        }
    }

    /// <summary>The clock of the system.</summary>
    public sealed class SystemClientClock : IClientClock
    {
        private static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);

        /// <inheritdoc/>
        public double UnixTime => (DateTime.UtcNow - Epoch).TotalSeconds;

        /// <inheritdoc/>
        public double Uptime => (double)Stopwatch.GetTimestamp() / Stopwatch.Frequency;

        /// <inheritdoc/>
        public string BootId => DeviceStart.Id;

        /// <inheritdoc/>
        public Task SleepAsync(double seconds, CancellationToken cancellation)
        {
            // A wait of more than a day is no part of any plan.
            var bounded = seconds > 0 ? Math.Min(seconds, 86400) : 0;
            return Task.Delay(TimeSpan.FromSeconds(bounded), cancellation);
        }
    }
}
