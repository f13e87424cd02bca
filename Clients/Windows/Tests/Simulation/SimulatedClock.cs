using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>A clock that moves only when nothing can run.</summary>
    public sealed class SimulatedClock : IClientClock
    {
        private readonly List<Sleeper> sleepers = new List<Sleeper>();
        private int count;

        /// <inheritdoc/>
        public double Uptime { get; private set; } = 1000;

        /// <summary>The time of day minus <see cref="Uptime"/>. A fault makes it jump.</summary>
        public double DateOffset { get; set; } = 1763800000;

        /// <summary>A restart of the device changes it.</summary>
        public string BootId { get; set; } = "boot-1";

        /// <inheritdoc/>
        public double UnixTime => Uptime + DateOffset;

        /// <inheritdoc/>
        public Task SleepAsync(double seconds, CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            if (!(seconds > 0))
            {
                return Task.FromResult(true);
            }

            count++;
            var sleeper = new Sleeper { Number = count, End = Uptime + seconds };
            sleepers.Add(sleeper);
            sleeper.Registration = cancellation.Register(() =>
            {
                sleepers.Remove(sleeper);
                sleeper.Source.TrySetCanceled();
            });
            return sleeper.Source.Task;
        }

        /// <summary>Moves to the first end of a sleep; tells whether anybody sleeps.</summary>
        public bool Advance()
        {
            var next = sleepers.OrderBy(sleeper => sleeper.End).ThenBy(sleeper => sleeper.Number).FirstOrDefault();
            if (next == null)
            {
                return false;
            }

            Uptime = next.End > Uptime ? next.End : Uptime;
            sleepers.Remove(next);
            next.Registration.Dispose();
            next.Source.TrySetResult(true);
            return true;
        }

        private sealed class Sleeper
        {
            public int Number { get; set; }

            public double End { get; set; }

            public CancellationTokenRegistration Registration { get; set; }

            public TaskCompletionSource<bool> Source { get; } = new TaskCompletionSource<bool>();
        }
    }
}
