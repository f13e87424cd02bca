using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>
    /// Runs the tasks of a simulation on one thread, in an order that a seed decides. When nothing can run, simulated
    /// time moves to the next moment at which somebody waits to be woken. Time therefore never passes while the client
    /// works, however slow the machine is, and a run with the same seed is the same run.
    /// </summary>
    public sealed class SimulatedScheduler : TaskScheduler
    {
        private readonly List<Task> jobs = new List<Task>();
        private readonly SplitMix random;
        private readonly int thread = Thread.CurrentThread.ManagedThreadId;

        private SimulatedScheduler(ulong seed)
        {
            random = seed == 0 ? null : new SplitMix(seed);
        }

        /// <summary>Runs a body to its end on this thread.</summary>
        /// <param name="clock">The clock to move.</param>
        /// <param name="body">The body. It and all that it awaits run here.</param>
        /// <param name="seed">
        /// 0 runs jobs in the order in which they became ready; every other seed is another order.
        /// </param>
        /// <param name="longest">A simulation that runs for longer is stuck, in seconds.</param>
        public static void Run(SimulatedClock clock, Func<Task> body, ulong seed = 0, double longest = 86400)
        {
            var before = SynchronizationContext.Current;
            SynchronizationContext.SetSynchronizationContext(null);
            try
            {
                new SimulatedScheduler(seed).RunToEnd(clock, body, longest);
            }
            finally
            {
                SynchronizationContext.SetSynchronizationContext(before);
            }
        }

        /// <inheritdoc/>
        protected override IEnumerable<Task> GetScheduledTasks() => jobs;

        /// <inheritdoc/>
        protected override void QueueTask(Task task)
        {
            if (Thread.CurrentThread.ManagedThreadId != thread)
            {
                throw new InvalidOperationException("A job came from another thread.");
            }

            jobs.Add(task);
        }

        /// <inheritdoc/>
        protected override bool TryExecuteTaskInline(Task task, bool wasQueued) => false;

        private void RunToEnd(SimulatedClock clock, Func<Task> body, double longest)
        {
            var end = clock.Uptime + longest;
            var main = Task.Factory.StartNew(body, CancellationToken.None, TaskCreationOptions.None, this).Unwrap();
            while (!main.IsCompleted)
            {
                if (jobs.Count > 0)
                {
                    var index = random == null ? 0 : (int)(random.Next() % (ulong)jobs.Count);
                    var job = jobs[index];
                    jobs.RemoveAt(index);
                    TryExecuteTask(job);
                }
                else if (!clock.Advance() || clock.Uptime > end)
                {
                    throw new InvalidOperationException("The run does not end: somebody waits for ever.");
                }
            }

            main.GetAwaiter().GetResult();
        }
    }

    /// <summary>
    /// A small generator with a seed: SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
    /// Generators").
    /// </summary>
    public sealed class SplitMix
    {
        private ulong state;

        public SplitMix(ulong seed)
        {
            state = seed;
        }

        public ulong Next()
        {
            unchecked
            {
                state += 0x9e3779b97f4a7c15;
                var value = state;
                value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
                value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
                return value ^ (value >> 31);
            }
        }
    }
}
