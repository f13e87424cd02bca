using System;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Runs work away from the caller's synchronization context, so that an app that blocks its own thread on the
    /// result does not wait for itself. What runs on the client's scheduler needs no more than this: the scheduler has
    /// no such context, and <c>ConfigureAwait(false)</c> would leave it, so that two steps ran at once.
    /// </summary>
    internal static class Detached
    {
        public static Task<T> RunAsync<T>(Func<Task<T>> work) =>
            SynchronizationContext.Current == null ? work() : Task.Run(work);

        public static Task RunAsync(Func<Task> work) =>
            SynchronizationContext.Current == null ? work() : Task.Run(work);
    }
}
