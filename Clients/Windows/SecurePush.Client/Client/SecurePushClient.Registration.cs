using System;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <content>Registers the device.</content>
    public sealed partial class SecurePushClient
    {
        /// <summary>The end of the last registration.</summary>
        private Task registering = Task.FromResult(true);

        /// <summary>
        /// Registers the device for the user who is logged in, unless that is done: again when the channel, the tags or
        /// the user change, and when <see cref="ClientLimits.RenewsRegistrationAfter"/> has passed. Call it at each
        /// start of the app. The installation's ID is kept. When the server has given it up (410), or it belongs to
        /// another user (404), the client makes a new one. With
        /// <see cref="SecurePushConfiguration.EncryptsEndToEnd"/>, each call sends the device's public key, because the
        /// server forgets it with the installation. The next call and <see cref="CatchUpAsync(CancellationToken)"/>
        /// send it again.
        /// </summary>
        /// <param name="device">The channel and the app's tags.</param>
        /// <param name="cancellation">Ends it. The server may have the device then; the next call finds out.</param>
        /// <returns>The installation's ID.</returns>
        /// <exception cref="SecurePushException">
        /// The device is not registered. With an <see cref="SecurePushException.InstallationId"/> it is, and the server
        /// may not have its key.
        /// </exception>
        public Task<string> RegisterAsync(
            PushDevice device,
            CancellationToken cancellation = default(CancellationToken)) => OneAfterAnother(async () =>
        {
            cancellation.ThrowIfCancellationRequested();
            var deadline = Begin().Deadline;
            try
            {
                var userChanges = (await AdoptUserAsync()).Changes;
                var userName = await UserNameToRegisterAsync();
                await RefreshPushKeysAsync(true, deadline);
                await ForgetInstallationOfOtherDeviceAsync();
                return await RegisterNowAsync(device, userName, userChanges, deadline, cancellation);
            }
            catch (ClientStoreException error)
            {
                throw Failure(error);
            }
        });

        /// <exception cref="SecurePushException">Nobody is logged in, or that is not known now.</exception>
        private async Task<string> UserNameToRegisterAsync()
        {
            try
            {
                return await KnownUserNameAsync() ?? throw new SecurePushException(
                    keeper.IsBlind ? DiagnosticCode.Credentials : DiagnosticCode.LoggedOut);
            }
            catch (Exception error) when (!(error is SecurePushException) && !StateKeeper.IsLocked(error))
            {
                throw new SecurePushException(DiagnosticCode.Credentials);
            }
        }

        /// <summary>
        /// Forgets the installation of a state that has come from another device, such as by a backup. A state of an
        /// older version does not say where it comes from.
        /// </summary>
        private async Task ForgetInstallationOfOtherDeviceAsync()
        {
            string mark = null;
            await Quietly(async () => mark = await store.ReadDeviceMarkAsync());
            if (mark == null)
            {
                return;
            }

            await keeper.UpdateAsync(state =>
            {
                if (state.DeviceMark != null && state.DeviceMark != mark)
                {
                    state.Registration = new RegistrationRecord();
                }

                return state.DeviceMark = mark;
            });
        }

        /// <summary>The state is never refused but for a locked store; other errors are of the key.</summary>
        private static SecurePushException Failure(ClientStoreException error) => new SecurePushException(
            error.Error == ClientStoreError.Locked ? DiagnosticCode.Locked : DiagnosticCode.NoKey);

        /// <summary>
        /// Registrations and their ends follow each other, so that the server has the channel that is stored here.
        /// </summary>
        private Task<T> OneAfterAnother<T>(Func<Task<T>> work) => Serial(async () =>
        {
            var earlier = registering;
            var end = new TaskCompletionSource<bool>();
            registering = end.Task;
            try
            {
                await earlier;
                return await work();
            }
            finally
            {
                end.TrySetResult(true);
            }
        });

        private async Task<string> RegisterNowAsync(
            PushDevice device, string userName, int userChanges, double deadline,
            CancellationToken cancellation)
        {
            var record = (await keeper.ReadAsync()).Registration;
            var digest = Digest(device);
            var age = clock.UnixTime - (record.RegisteredAt ?? double.NegativeInfinity);
            if (record.UserName == userName && record.Digest == digest && age >= 0
                && age < Limits.RenewsRegistrationAfter && record.InstallationId != null)
            {
                try
                {
                    await RegisterKeyAsync(record.InstallationId, userName, userChanges, deadline, cancellation);
                    return record.InstallationId;
                }
                catch (SecurePushException error) when (error.Code.Equals(DiagnosticCode.Status(404)))
                {
                    // The server no longer has the installation: it is registered anew.
                }
            }

            foreach (var known in new[] { record.InstallationId, null })
            {
                var id = known ?? Guid.NewGuid().ToString("D");

                // Stored first: after a crash the same installation is registered again, not a second one.
                await NoteRegistrationAsync(userChanges, new RegistrationRecord(id));
                var outcome = await connection.SendAsync(Registration(device, id), deadline, cancellation);
                cancellation.ThrowIfCancellationRequested();
                if (known != null && (outcome.Status == 404 || outcome.Status == 410))
                {
                    continue;
                }

                outcome.OrThrow();
                var now = clock.UnixTime;
                await NoteRegistrationAsync(userChanges, new RegistrationRecord(id, userName, digest, now));
                await RegisterKeyAsync(id, userName, userChanges, deadline, cancellation);
                return id;
            }

            throw new SecurePushException(DiagnosticCode.Status(410));
        }

        /// <summary>
        /// Stores a registration, unless the user has logged out since it began: the log-out removes the installation.
        /// </summary>
        /// <exception cref="SecurePushException">The user has logged out.</exception>
        private async Task NoteRegistrationAsync(int userChanges, RegistrationRecord record)
        {
            var isCurrent = await keeper.UpdateAsync(state =>
            {
                var isSameUser = state.UserChanges <= userChanges;
                state.Registration = isSameUser ? record : state.Registration;
                return isSameUser;
            });
            if (!isCurrent)
            {
                throw new SecurePushException(DiagnosticCode.LoggedOut);
            }
        }

        private static RetrievalCall Registration(PushDevice device, string id)
        {
            var json = new JsonWriter().Text("installationId", id).Text("platform", device.Platform)
                .Text("pushChannel", device.Channel);
            if (device.Tags.Count > 0)
            {
                json.List("tags", device.Tags);
            }

            return new RetrievalCall("PUT", "api/installations/" + id, null, json.Bytes());
        }

        /// <summary>A digest, so that the channel itself is not stored.</summary>
        private static string Digest(PushDevice device)
        {
            var text = device.Platform + "\n" + device.Channel + "\n" + string.Join("\n", device.Tags);
            return Digest(Encoding.UTF8.GetBytes(text));
        }

        private static string Digest(byte[] bytes)
        {
            using (var hash = SHA256.Create())
            {
                return Base64Url.Encode(hash.ComputeHash(bytes));
            }
        }
    }
}
