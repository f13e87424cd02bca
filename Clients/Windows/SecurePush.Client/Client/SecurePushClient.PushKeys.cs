using System;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Reads the server's keys for pushes.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>The keys are never worth more time than this, in seconds.</summary>
        private const double SecondsForPushKeys = 5;

        /// <summary>Whether a wake is reading the server's keys for pushes.</summary>
        private bool isRefreshingPushKeys;

        private bool ReadsPushKeys => configuration.PushKeys != null && configuration.RefreshesPushKeys;

        /// <summary>
        /// Reads the server's keys for pushes, if those that are stored are old. A device whose app is not opened
        /// learns the next key in this way, while its pushes are still signed with the last one.
        /// One wake does this for all wakes at the same time, with one request of at most 5 s. After a failure the next
        /// wake tries again.
        /// </summary>
        private async Task RefreshOldPushKeysAsync(double deadline)
        {
            if (!ReadsPushKeys || isRefreshingPushKeys)
            {
                return;
            }

            isRefreshingPushKeys = true;
            try
            {
                var state = await ReadOrNullAsync();

                // A clock that went back tells nothing of the age.
                var age = clock.UnixTime - state?.PushKeysReadAt;
                var isFresh = state?.PushKeys != null && age >= 0 && age < Limits.RefreshesPushKeysAfter;
                if (state != null && !isFresh)
                {
                    await RefreshPushKeysAsync(false, Math.Min(deadline, clock.Uptime + SecondsForPushKeys));
                }
            }
            finally
            {
                isRefreshingPushKeys = false;
            }
        }

        /// <summary>
        /// Reads the server's keys for pushes after a push that none of the known ones has signed: the server may have
        /// replaced them all at once. Whoever sends such pushes causes one request in an hour, without credentials.
        /// </summary>
        /// <returns>Whether there are new keys.</returns>
        private async Task<bool> LearnPushKeysAsync(double deadline)
        {
            if (!ReadsPushKeys || isRefreshingPushKeys)
            {
                return false;
            }

            isRefreshingPushKeys = true;
            try
            {
                var now = clock.UnixTime;
                var isDue = await keeper.UpdateAsync(state =>
                {
                    // A clock that went back tells nothing of the age.
                    double? read = now - state.PushKeysReadAt, asked = now - state.PushKeysAskedAt;
                    var isEarly = (read >= 0 && read < Limits.RefreshesPushKeysAfter)
                        || (asked >= 0 && asked < Limits.RefreshesPushKeysAfter);
                    state.PushKeysAskedAt = isEarly ? state.PushKeysAskedAt : now;
                    return !isEarly;
                });
                return isDue
                    && await RefreshPushKeysAsync(false, Math.Min(deadline, clock.Uptime + SecondsForPushKeys));
            }
            finally
            {
                isRefreshingPushKeys = false;
            }
        }

        /// <summary>
        /// Reads the server's keys for pushes. They come from the configured host, over the same TLS as the secrets, so
        /// they replace the configured keys. A failure, and a set that cannot be used, change nothing.
        /// </summary>
        /// <returns>Whether there are new keys.</returns>
        private async Task<bool> RefreshPushKeysAsync(bool isRetried, double deadline)
        {
            if (!ReadsPushKeys)
            {
                return false;
            }

            var call = new RetrievalCall("GET", "api/push-keys") { IsAuthorized = false, IsRetried = isRetried };
            var outcome = await connection.SendAsync(call, deadline);
            if (!outcome.IsSuccess)
            {
                return false;
            }

            try
            {
                var keys = PublicKeySet.FromJwkSet(outcome.Body).OnCurve(cryptography);
                if (keys == null)
                {
                    return false;
                }

                var now = clock.UnixTime;
                return await UpdateOrDefaultAsync(
                    state =>
                    {
                        state.ReplacePushKeys(keys, now);
                        return true;
                    }, false);
            }
            catch (FormatException)
            {
                // The server's keys cannot be used. Those that the client has stay.
                return false;
            }
        }
    }
}
