using System;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>Runs work that must not take longer than until a deadline.</summary>
    internal static class TimeLimit
    {
        /// <summary>
        /// Runs the work, and returns at the deadline even if the work does not notice that it was cancelled.
        /// </summary>
        /// <param name="deadline">The <see cref="IClientClock.Uptime"/> at which the work is cancelled.</param>
        /// <param name="clock">The clock.</param>
        /// <param name="cancellation">Ends the work early.</param>
        /// <param name="work">The work.</param>
        /// <exception cref="TransportException">At the deadline, and those of the work.</exception>
        /// <exception cref="OperationCanceledException">When the token is cancelled.</exception>
        public static async Task<T> RunAsync<T>(
            double deadline, IClientClock clock, CancellationToken cancellation, Func<CancellationToken, Task<T>> work)
        {
            cancellation.ThrowIfCancellationRequested();
            var race = new TaskCompletionSource<T>();
            var source = new CancellationTokenSource();
            FinishAsync(race, work, source.Token).Forget();
            ExpireAsync(race, deadline, clock, source.Token).Forget();
            using (cancellation.Register(() => race.TrySetCanceled()))
            {
                try
                {
                    return await race.Task;
                }
                finally
                {
                    source.Cancel();
                }
            }
        }

        private static async Task FinishAsync<T>(
            TaskCompletionSource<T> race, Func<CancellationToken, Task<T>> work, CancellationToken cancellation)
        {
            try
            {
                race.TrySetResult(await work(cancellation));
            }
            catch (OperationCanceledException)
            {
                race.TrySetCanceled();
            }
            catch (Exception error)
            {
                race.TrySetException(error);
            }
        }

        private static async Task ExpireAsync<T>(
            TaskCompletionSource<T> race, double deadline, IClientClock clock, CancellationToken cancellation)
        {
            try
            {
                await clock.SleepAsync(deadline - clock.Uptime, cancellation);
                race.TrySetException(new TransportException(TransportError.TimedOut));
            }
            catch (OperationCanceledException)
            {
                // The work is done.
            }
        }
    }

    /// <summary>Helps with tasks.</summary>
    internal static class TaskEnding
    {
        /// <summary>Nobody waits for a task, which reports its own end.</summary>
        public static void Forget(this Task task)
        {
        }
    }
}
