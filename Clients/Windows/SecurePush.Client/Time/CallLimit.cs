using System;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Bounds the calls of one part of the platform: a call of the data protection, of the toasts or of a store of the
    /// app may never end.
    /// </summary>
    internal sealed class CallLimit
    {
        /// <summary>Much longer than any call that works, in seconds.</summary>
        private const double Seconds = 5;

        /// <summary>
        /// After a call that did not end, the next ones have less until one ends: a wake makes many.
        /// </summary>
        private const double SecondsWhenStuck = 0.25;

        private readonly IClientClock clock;
        private bool isStuck;

        public CallLimit(IClientClock clock)
        {
            this.clock = clock;
        }

        /// <exception cref="TimeoutException">It takes too long.</exception>
        public async Task<T> RunAsync<T>(Func<Task<T>> work)
        {
            var end = clock.Uptime + (isStuck ? SecondsWhenStuck : Seconds);
            try
            {
                var result = await TimeLimit.RunAsync(end, clock, CancellationToken.None, token => work());
                isStuck = false;
                return result;
            }
            catch (TransportException error) when (error.Error == TransportError.TimedOut)
            {
                isStuck = true;
                throw new TimeoutException();
            }
        }

        /// <exception cref="TimeoutException">It takes too long.</exception>
        public Task RunAsync(Func<Task> work) => RunAsync(async () =>
        {
            await work();
            return true;
        });
    }
}
