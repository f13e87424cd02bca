using System;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// Reads and changes the client's state, also while the store cannot be written.
    /// A full or read-only store must not keep a secret from the user. So changes that cannot be stored stay in memory,
    /// and are stored with the next change that can. If the process ends before that, a secret may be shown again.
    /// Only the client's scheduler runs it. Both members throw only if the store is locked.
    /// </summary>
    internal sealed class StateKeeper
    {
        private readonly IClientStore store;

        /// <summary>
        /// The state with the changes that are not stored; <c>null</c> if all are. It is never changed.
        /// </summary>
        private ClientState unsaved;
        private ClientState lastRead;

        /// <summary>Whether the store could not be read, so that the user of the device is unknown.</summary>
        public bool IsBlind { get; private set; }

        public StateKeeper(IClientStore store)
        {
            this.store = store;
        }

        /// <summary>The state.</summary>
        public async Task<ClientState> ReadAsync()
        {
            try
            {
                var state = await store.ReadAsync();
                if (unsaved != null)
                {
                    state.Merge(unsaved);
                }

                lastRead = state.Clone();
                IsBlind = false;
                return state;
            }
            catch (Exception error) when (!IsLocked(error))
            {
                IsBlind = true;
                return (unsaved ?? lastRead ?? new ClientState()).Clone();
            }
        }

        /// <summary>Changes the state.</summary>
        public async Task<T> UpdateAsync<T>(Func<ClientState, T> change)
        {
            var pending = unsaved;
            try
            {
                ClientState stored = null;
                var result = await store.UpdateAsync(state =>
                {
                    if (pending != null)
                    {
                        state.Merge(pending);
                    }

                    var value = change(state);
                    stored = state.Clone();
                    return value;
                });
                lastRead = stored;

                // Changes that came in between stay for the next time.
                unsaved = unsaved == pending ? null : unsaved;
                return result;
            }
            catch (Exception error) when (!IsLocked(error))
            {
                var state = (unsaved ?? lastRead ?? new ClientState()).Clone();
                var result = change(state);
                unsaved = state;
                return result;
            }
        }

        public static bool IsLocked(Exception error) =>
            error is ClientStoreException problem && problem.Error == ClientStoreError.Locked;
    }
}
