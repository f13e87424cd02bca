using System.Collections.Generic;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Carries out withdrawals.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>Whether a wake is asking the server about withdrawals. It serves the others, too.</summary>
        private bool isConfirming;

        /// <summary>Carries out a withdrawal. The prompt goes too, if nothing else waits behind it.</summary>
        private async Task WithdrawAsync(PushId id)
        {
            var now = clock.Uptime;
            var end = await keeper.UpdateAsync(state => new
            {
                isRemoved = state.Withdraw(id, AreSigned, now, Limits), isPromptOver = state.EndEmptyPrompt(),
            });
            if (end.isRemoved)
            {
                await Quietly(() => presenter.RemoveAsync(new[] { id }));
            }

            if (end.isPromptOver)
            {
                await Quietly(() => presenter.RemovePromptAsync());
            }
        }

        /// <summary>
        /// Asks the server for the notifications that were withdrawn after this device may have been the first to read
        /// them. Those that are gone are removed from the screen. The others were withdrawn from the user's other
        /// devices only: they stay on the screen, or are still fetched.
        /// Those that are being fetched now are left to the fetch, whose answer says who has read them.
        /// </summary>
        private async Task ConfirmWithdrawalsAsync(double deadline)
        {
            if (isConfirming)
            {
                return;
            }

            isConfirming = true;
            try
            {
                await ConfirmWithdrawalsAsync(new HashSet<PushId>(), deadline);
            }
            finally
            {
                isConfirming = false;
            }
        }

        /// <summary>A store that cannot be written keeps an ID, so each is asked for once.</summary>
        private async Task ConfirmWithdrawalsAsync(HashSet<PushId> asked, double deadline)
        {
            while (true)
            {
                var id = (await ReadOrNullAsync())?.Unconfirmed.Find(
                    candidate => !asked.Contains(candidate) && !underWay.Contains(candidate));
                if (id == null)
                {
                    return;
                }

                // HEAD marks nothing as read and returns no secret.
                asked.Add(id);
                var outcome = await connection.SendAsync(
                    new RetrievalCall("HEAD", "api/notifications/" + id), deadline);
                if (outcome.IsGone)
                {
                    await EndWithdrawnAsync(id);
                }
                else if (outcome.IsSuccess)
                {
                    await UpdateOrDefaultAsync(state => state.Unconfirmed.Remove(id), false);
                }
                else
                {
                    // What the device does not know is not remembered either: anybody may have sent its withdrawal.
                    await UpdateOrDefaultAsync(
                        state => state.Ledger.Find(id) == null && state.Unconfirmed.Remove(id), false);
                    return;
                }
            }
        }

        /// <summary>
        /// Ends a notification whose withdrawal the server has confirmed, and tells whether there was a withdrawal to
        /// confirm.
        /// </summary>
        private async Task<bool> EndWithdrawnAsync(PushId id)
        {
            var now = clock.Uptime;
            var isPromptOver = await UpdateOrDefaultAsync(
                state =>
                {
                    if (!state.Unconfirmed.Contains(id))
                    {
                        return (bool?)null;
                    }

                    state.EndWithdrawn(id, now, Limits);
                    return state.EndEmptyPrompt();
                }, null);
            if (isPromptOver == null)
            {
                return false;
            }

            await Quietly(() => presenter.RemoveAsync(new[] { id }));
            if (isPromptOver.Value)
            {
                await Quietly(() => presenter.RemovePromptAsync());
            }

            return true;
        }
    }
}
