using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>What a view of the app shows: messages and devices.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>Two thousand devices; the server allows a hundred.</summary>
        private const int MaxDevicePages = 20;

        /// <summary>
        /// A page of the inbox, oldest first, without the secrets. It marks nothing and shows nothing.
        /// </summary>
        /// <param name="after">The last ID of the page before; <c>null</c> for the first page.</param>
        /// <param name="unreadOnly">Whether read notifications are left out.</param>
        /// <param name="cancellation">Ends it.</param>
        /// <exception cref="SecurePushException">The server did not give it.</exception>
        public Task<InboxPage> InboxAsync(
            PushId after = null, bool unreadOnly = false,
            CancellationToken cancellation = default(CancellationToken)) => ForUser(async deadline =>
        {
            var call = PageCall("Limit=" + InboxAnswer.MaxEntries, unreadOnly, after);
            var page = InboxAnswer.Read((await SendAsync(call, deadline, cancellation)).Body);
            return new InboxPage(
                page.Entries.Select(entry => new InboxEntry(entry.Id, entry.IsRead, entry.CreatedAt)).ToList(),
                page.Unread, page.HasNext);
        });

        /// <summary>
        /// Fetches one secret, decrypts it, and gives it to the app. It counts as read. Nothing is shown or stored.
        /// </summary>
        /// <param name="id">The notification.</param>
        /// <param name="cancellation">Ends it.</param>
        /// <exception cref="SecurePushException">
        /// The server did not give it (<c>SP-404</c>, <c>SP-410</c>), or it cannot be opened on this device.
        /// </exception>
        public Task<SecretNotification> ReadAsync(
            PushId id, CancellationToken cancellation = default(CancellationToken)) => ForUser(async deadline =>
        {
            var call = new RetrievalCall("GET", "api/notifications/" + id, "include=unread");
            var answer = SecretAnswer.Read((await SendAsync(call, deadline, cancellation)).Body, id);
            try
            {
                var secret = await OpenAsync(answer.Secret);
                if (answer.Unread != null)
                {
                    await SetBadgeAsync(answer.Unread.Value);
                }

                return secret;
            }
            catch (ClientStoreException error)
            {
                throw Failure(error);
            }
        });

        /// <summary>The user's devices on all platforms, in the order of their IDs.</summary>
        /// <exception cref="SecurePushException">The server did not give them.</exception>
        public Task<IReadOnlyList<UserDevice>> DevicesAsync(
            CancellationToken cancellation = default(CancellationToken)) => ForUser(async deadline =>
        {
            var ownId = (await ReadOrNullAsync())?.Registration.InstallationId;
            var devices = new List<UserDevice>();
            for (var count = 0; count < MaxDevicePages; count++)
            {
                var query = "Limit=" + UserDevice.MaxPerPage
                    + (count == 0 ? "" : "&After=" + devices[devices.Count - 1].InstallationId);
                var call = new RetrievalCall("GET", "api/installations", query);
                var body = (await SendAsync(call, deadline, cancellation)).Body;
                if (!UserDevice.ReadPage(body, ownId, devices))
                {
                    break;
                }
            }

            return (IReadOnlyList<UserDevice>)devices;
        });

        /// <summary>
        /// Removes one of the user's devices: it gets no more pushes. Its session does not end, so an app that runs
        /// there can register it again. For this device call <see cref="UnregisterAsync"/> or
        /// <see cref="LogOutAsync"/>.
        /// </summary>
        /// <param name="installationId">As in <see cref="UserDevice"/>.</param>
        /// <param name="cancellation">Ends it.</param>
        /// <exception cref="ArgumentException">It is no ID, or the one of this device.</exception>
        /// <exception cref="SecurePushException">The server may still have it.</exception>
        public Task RemoveDeviceAsync(
            string installationId, CancellationToken cancellation = default(CancellationToken)) =>
            ForUser(async deadline =>
            {
                var ownId = (await ReadOrNullAsync())?.Registration.InstallationId;
                if (!UserDevice.IsId(installationId) || installationId == ownId)
                {
                    throw new ArgumentException("The ID is not the one of another device.", nameof(installationId));
                }

                var call = new RetrievalCall("DELETE", "api/installations/" + installationId) { Success = 204 };
                var outcome = await connection.SendAsync(call, deadline, cancellation);
                cancellation.ThrowIfCancellationRequested();
                return outcome.Status == 404 || outcome.Status == 410 ? outcome : outcome.OrThrow();
            });

        /// <summary>
        /// Removes all of the user's devices from the server, and then logs the user out on this one. Without a network
        /// it throws, and nothing has changed on this device. The sessions of the other devices end when their tokens
        /// expire: end them at the identity provider, if that is too late.
        /// </summary>
        /// <param name="cancellation">Ends it before the log-out, or the wait after it.</param>
        /// <exception cref="SecurePushException">
        /// The server may still have some of the devices: call it again, or <see cref="LogOutAsync"/>.
        /// </exception>
        public Task SignOutEverywhereAsync(CancellationToken cancellation = default(CancellationToken)) =>
            Serial(async () =>
            {
                await ForUser(deadline => SendAsync(
                    new RetrievalCall("DELETE", "api/devices") { Success = 204 }, deadline, cancellation));
                return await LogOutAsync(cancellation);
            });

        private async Task<RetrievalOutcome> SendAsync(
            RetrievalCall call, double deadline, CancellationToken cancellation)
        {
            var outcome = await connection.SendAsync(call, deadline, cancellation);
            cancellation.ThrowIfCancellationRequested();
            return outcome.OrThrow();
        }

        /// <summary>
        /// Runs work for the user who is logged in now. What comes after that user has gone is given to nobody.
        /// </summary>
        private Task<T> ForUser<T>(Func<double, Task<T>> work) => Serial(async () =>
        {
            var wake = Begin();
            try
            {
                wake.UserChanges = (await AdoptUserAsync()).Changes;
            }
            catch (ClientStoreException error)
            {
                throw Failure(error);
            }

            var result = await work(wake.Deadline);
            return await IsCurrentAsync(wake) ? result : throw new SecurePushException(DiagnosticCode.LoggedOut);
        });
    }
}
