using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>What a view of the app shows: messages and devices.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>Two thousand devices; the server allows a hundred.</summary>
        private const int MaxDevicePages = 20;

        /// <summary>The longest text of an answer.</summary>
        private const int MaxTextBytes = 2000;

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
        /// A page of the inbox, oldest first, with the secrets: at most 20. They all count as read. Nothing is shown.
        /// </summary>
        /// <param name="after">The last ID of the page before; <c>null</c> for the first page.</param>
        /// <param name="unreadOnly">Whether read notifications are left out.</param>
        /// <param name="cancellation">Ends it.</param>
        /// <exception cref="SecurePushException">The server did not give it.</exception>
        public Task<InboxPage> InboxWithSecretsAsync(
            PushId after = null, bool unreadOnly = false,
            CancellationToken cancellation = default(CancellationToken)) => ForUser(async deadline =>
        {
            var call = PageCall("include=payload&Limit=" + Limits.MaxSecretsPerPage, unreadOnly, after);
            var page = InboxAnswer.Read((await SendAsync(call, deadline, cancellation)).Body);
            var entries = new List<InboxEntry>();
            foreach (var entry in page.Entries)
            {
                entries.Add(await OpenedAsync(entry));
            }

            await SetBadgeAsync(page.Unread);
            return new InboxPage(entries, page.Unread, page.HasNext);
        });

        private async Task<InboxEntry> OpenedAsync(InboxAnswer.Entry entry)
        {
            var code = entry.Secret == null ? DiagnosticCode.MalformedAnswer : null;
            try
            {
                var secret = entry.Secret == null ? null : await OpenAsync(entry.Secret);
                if (secret != null)
                {
                    await NoteReadAsync(secret);
                }

                return new InboxEntry(entry.Id, entry.IsRead, entry.CreatedAt, secret, code);
            }
            catch (SecurePushException error)
            {
                code = error.Code;
            }
            catch (ClientStoreException error)
            {
                code = Failure(error).Code;
            }

            return new InboxEntry(entry.Id, entry.IsRead, entry.CreatedAt, null, code);
        }

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
                await NoteReadAsync(secret);
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

        /// <summary>
        /// Fetches the secret of a push and gives it to the app, which shows it in place of the SDK, once: a repeated
        /// push has none. It counts as shown. A withdrawal is carried out as by <see cref="HandleAsync"/>.
        /// </summary>
        /// <param name="push">The push.</param>
        /// <param name="cancellation">Ends it.</param>
        /// <returns><c>null</c> if there is nothing to show: it was shown or withdrawn before.</returns>
        /// <exception cref="SecurePushException">
        /// The push is not genuine, or the secret cannot be had now: it waits for the next wake then.
        /// </exception>
        public Task<SecretNotification> SecretAsync(
            IncomingPush push, CancellationToken cancellation = default(CancellationToken)) => Serial(async () =>
        {
            var wake = Begin();
            using (cancellation.Register(wake.Abandon))
            {
                var reception = await NoteAsync(push, wake);
                var secret = reception.Kind == ReceptionKind.Wanted && underWay.Add(push.Id)
                    ? await TakeAsync(push.Id, wake)
                    : null;
                cancellation.ThrowIfCancellationRequested();
                await EndAsync(wake, null);
                var failure = reception.Failure;
                return failure == null ? secret : throw new SecurePushException(failure);
            }
        });

        /// <summary>Fetches a secret that is in <see cref="underWay"/> for the app.</summary>
        private async Task<SecretNotification> TakeAsync(PushId id, Wake wake)
        {
            try
            {
                var acquisition = await AcquireAsync(id, wake, wake.Deadline);
                switch (acquisition.Kind)
                {
                    case AcquisitionKind.Secret:
                        await SettleAsync(id, !wake.IsAbandoned, wake);
                        if (acquisition.Unread != null)
                        {
                            await SetBadgeAsync(acquisition.Unread.Value);
                        }

                        return acquisition.Secret;
                    case AcquisitionKind.Settled:
                        return null;
                    case AcquisitionKind.Failed:
                        // A final failure ends the wait. After any other, the next wake shows it.
                        await UpdateOrDefaultAsync(
                            state => acquisition.End != Progress.Pending && state.Ledger.Notice(id, acquisition.End),
                            false);
                        throw new SecurePushException(acquisition.Code);
                    default:
                        throw new SecurePushException(acquisition.Code ?? DiagnosticCode.Locked);
                }
            }
            finally
            {
                underWay.Remove(id);
            }
        }

        /// <summary>
        /// Sends the user's answer to a notification whose sender asks for one, and removes it from the screen. All
        /// devices of the user have one answer together; the same one may be sent again.
        /// </summary>
        /// <param name="id">The notification.</param>
        /// <param name="action">The ID of one of its actions.</param>
        /// <param name="text">What the user has written, at most 2,000 bytes of UTF-8; <c>null</c>: nothing.</param>
        /// <param name="challenge">
        /// What the sender shows to the user, who has to write it: 1 to 16 digits or letters; <c>null</c>: nothing. The
        /// third wrong one ends the question.
        /// </param>
        /// <param name="cancellation">Ends it. The server may have the answer.</param>
        /// <exception cref="ArgumentException">A value cannot be one.</exception>
        /// <exception cref="SecurePushException">
        /// <c>SP-409</c>: it was answered otherwise. <c>SP-410</c>: it is over. <c>SP-422</c>: the sender did not ask
        /// for this action, or the challenge is wrong. Other codes: the server may not have it.
        /// </exception>
        public Task AnswerAsync(
            PushId id, string action, string text = null, string challenge = null,
            CancellationToken cancellation = default(CancellationToken)) => ForUser(async deadline =>
        {
            if (id == null || !MessageAction.IsId(action) || Encoding.UTF8.GetByteCount(text ?? "") > MaxTextBytes
                || (challenge != null && !IsChallenge(challenge)))
            {
                throw new ArgumentException("The action, the text or the challenge cannot be one.");
            }

            var installation = (await ReadOrNullAsync())?.Registration.InstallationId;
            var body = new JsonWriter().Text("Action", action).Text("Text", text).Text("Challenge", challenge)
                .Text("DeviceId", installation).Bytes();
            var call = new RetrievalCall("POST", "api/notifications/" + id + "/answer", null, body) { Success = 204 };
            await SendAsync(call, deadline, cancellation);
            await EndReadAsync(new[] { id }, deadline);
            return true;
        });

        private static bool IsChallenge(string text) =>
            text.Length >= 1 && text.Length <= 16 && text.All(character => char.IsLetterOrDigit(character)
                && character < 128);

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
                    + (count == 0 ? "" : "&After=" + devices[devices.Count - 1].Id);
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
        /// Removes one of the user's devices, such as one that was lost: it gets no more pushes. Its session does not
        /// end, so its app can register it again. For this device it is <see cref="UnregisterAsync"/>.
        /// </summary>
        /// <param name="id">As in <see cref="UserDevice"/>.</param>
        /// <param name="cancellation">Ends it.</param>
        /// <exception cref="ArgumentException">It is no ID.</exception>
        /// <exception cref="SecurePushException">The server may still have it.</exception>
        public Task RemoveDeviceAsync(string id, CancellationToken cancellation = default(CancellationToken)) =>
            Serial(async () =>
            {
                if (!UserDevice.IsId(id))
                {
                    throw new ArgumentException("The text is no installation's ID.", nameof(id));
                }

                if (UserDevice.IsSame(id, (await ReadOrNullAsync())?.Registration.InstallationId))
                {
                    return await UnregisterAsync(cancellation);
                }

                return await ForUser(async deadline =>
                {
                    var call = new RetrievalCall("DELETE", "api/installations/" + id) { Success = 204 };
                    var outcome = await connection.SendAsync(call, deadline, cancellation);
                    cancellation.ThrowIfCancellationRequested();
                    return outcome.Status == 404 || outcome.Status == 410 || outcome.OrThrow() != null;
                });
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
        /// Runs work for the user who is logged in now. A result that arrives after the log-out is dropped.
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
