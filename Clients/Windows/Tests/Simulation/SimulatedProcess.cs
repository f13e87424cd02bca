using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>
    /// A process of the device: the app or its background task. It can die before or after the effect of any call of
    /// its store, transport or presenter. A dead process does nothing more: its calls do not return.
    /// </summary>
    public sealed class SimulatedProcess
    {
        private readonly int lastPoint;
        private readonly List<string> points = new List<string>();
        private readonly TaskCompletionSource<bool> death = new TaskCompletionSource<bool>();

        /// <param name="diesAt">The number of the point at which it dies, from 1; 0: it lives.</param>
        public SimulatedProcess(int diesAt = 0)
        {
            lastPoint = diesAt;
        }

        /// <summary>The names of the points that it has reached.</summary>
        public IReadOnlyList<string> Points => points;

        public bool IsDead { get; private set; }

        /// <summary>Runs the effect of a call, with a point before and one after it.</summary>
        public async Task<T> CallAsync<T>(string name, Func<Task<T>> effect)
        {
            await PointAsync("before " + name);
            T value;
            try
            {
                value = await effect();
            }
            catch (Exception)
            {
                await PointAsync("after failed " + name);
                throw;
            }

            await PointAsync("after " + name);
            return value;
        }

        public Task<T> CallAsync<T>(string name, Func<T> effect) =>
            CallAsync(name, () => Task.FromResult(effect()));

        /// <summary>Runs the effect of a call after a fault, which may throw or never end.</summary>
        public Task<T> CallAsync<T>(string name, Func<T> effect, Func<Task> fault) => CallAsync(name, async () =>
        {
            await fault();
            return effect();
        });

        /// <summary>Waits for the end of a body, or for the death of the process; tells whether it lived.</summary>
        public async Task<bool> LiveAsync(Func<Task> body)
        {
            await Task.WhenAny(body(), death.Task);
            return !IsDead;
        }

        private async Task PointAsync(string name)
        {
            // Others may run here, as between any two steps of real processes.
            await Task.Yield();
            if (!IsDead)
            {
                points.Add(name);
                if (points.Count != lastPoint)
                {
                    return;
                }

                IsDead = true;
                death.TrySetResult(true);
            }

            await new TaskCompletionSource<bool>().Task;
        }
    }
}
