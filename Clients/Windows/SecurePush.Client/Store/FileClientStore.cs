using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace SecurePush
{
    /// <summary>
    /// A store in files of one folder, which the app and its background task share:
    /// <c>ApplicationData.Current.LocalFolder</c>. Windows lets only the user and the app open that folder; the
    /// credentials and the keys are encrypted besides.
    /// A change writes a new file, flushes it and replaces the old one, under a lock that other processes see. A
    /// damaged file is put aside as <c>NAME.damaged</c>, and the store begins anew.
    /// </summary>
    public sealed class FileClientStore : IClientStore, IDeviceBoundStore
    {
        /// <summary>Two seconds: a change takes milliseconds.</summary>
        private const int LockTries = 200;

        /// <summary>In milliseconds.</summary>
        private const int LockPause = 10;
        private const int SharingViolation = unchecked((int)0x80070020);
        private const int LockViolation = unchecked((int)0x80070021);

        /// <summary>Two readings of the clocks differ by less within one start of the device, in seconds.</summary>
        private const double StartTolerance = 300;

        private readonly string folder;
        private readonly ISecretProtector protector;
        private readonly Func<double> startedAt;
        private readonly ProtectedFile state;
        private readonly ProtectedFile credentials;
        private readonly ProtectedFile encryptionKeys;
        private readonly ProtectedFile openedEnvelopes;
        private readonly ProtectedFile mark;
        private readonly string deviceFolder;

        /// <summary>The end of the device's mark: the folder, if a copy of the files has the mark's file too.</summary>
        private readonly string place;
        private readonly SemaphoreSlim turn = new SemaphoreSlim(1);

        /// <summary>Makes a store.</summary>
        /// <param name="folder">
        /// A folder of its own, with its whole path. It is created when something is first stored.
        /// </param>
        /// <param name="protector">Encrypts the secrets.</param>
        /// <param name="deviceFolder">
        /// A folder that backups leave out, such as <c>ApplicationData.Current.LocalCacheFolder</c>; the other folder
        /// if it is <c>null</c>.
        /// </param>
        /// <exception cref="ArgumentException">A path is relative: the processes may not share it.</exception>
        public FileClientStore(string folder, ISecretProtector protector, string deviceFolder = null)
            : this(folder, protector, StartOfDevice, deviceFolder)
        {
        }

        /// <param name="folder">The folder.</param>
        /// <param name="protector">Encrypts the secrets.</param>
        /// <param name="startedAt">When the device started, in seconds since 1970.</param>
        /// <param name="deviceFolder">The folder of the device's mark; the other one if it is <c>null</c>.</param>
        internal FileClientStore(
            string folder, ISecretProtector protector, Func<double> startedAt, string deviceFolder = null)
        {
            if (!Path.IsPathRooted(folder) || !Path.IsPathRooted(deviceFolder ?? folder))
            {
                throw new ArgumentException("The path of a store's folder must not be relative.");
            }

            this.folder = folder;
            this.protector = protector;
            this.startedAt = startedAt;
            state = new ProtectedFile(Path.Combine(folder, "state.json"));
            credentials = new ProtectedFile(Path.Combine(folder, "credentials.bin"));
            this.deviceFolder = deviceFolder ?? folder;
            place = deviceFolder == null
                ? " " + Path.GetFullPath(folder).TrimEnd('\\', '/').ToUpperInvariant()
                : "";
            mark = new ProtectedFile(Path.Combine(this.deviceFolder, "device-mark.bin"));
            encryptionKeys = new ProtectedFile(Path.Combine(folder, "encryption-keys.bin"));
            openedEnvelopes = new ProtectedFile(Path.Combine(folder, "opened-envelopes.bin"));
        }

        /// <inheritdoc/>
        public Task<ClientState> ReadAsync() => Task.Run(() => ReadState());

        /// <inheritdoc/>
        public Task<T> UpdateAsync<T>(Func<ClientState, T> change) => WithLockAsync(async () =>
        {
            var next = await ReadAsync().ConfigureAwait(false);
            var before = next.Encode();
            var result = change(next);
            var after = next.Encode();
            if (!AreEqual(before, after))
            {
                await Task.Run(() => state.Write(after)).ConfigureAwait(false);
            }

            return result;
        });

        /// <inheritdoc/>
        public async Task<StoredCredentials> ReadCredentialsAsync()
        {
            var plain = await ReadSecretAsync(credentials).ConfigureAwait(false);
            try
            {
                return plain == null ? null : StoredCredentials.Decode(plain);
            }
            catch (FormatException)
            {
                credentials.PutAside();
                return null;
            }
        }

        /// <inheritdoc/>
        public Task SaveCredentialsAsync(StoredCredentials credentials) =>
            SaveSecretAsync(this.credentials, credentials?.Encode());

        /// <inheritdoc/>
        public Task<bool> ReplaceCredentialsAsync(StoredCredentials expected, StoredCredentials replacement) =>
            WithLockAsync(async () =>
            {
                var isSame = StoredCredentials.IsSame(await ReadCredentialsAsync().ConfigureAwait(false), expected);
                if (isSame)
                {
                    await WriteSecretAsync(credentials, replacement?.Encode()).ConfigureAwait(false);
                }

                return isSame;
            });

        /// <inheritdoc/>
        public Task<byte[]> ReadEncryptionKeysAsync() => ReadSecretAsync(encryptionKeys);

        /// <inheritdoc/>
        public Task SaveEncryptionKeysAsync(byte[] keys) => SaveSecretAsync(encryptionKeys, keys);

        /// <inheritdoc/>
        public Task<bool> RememberAsync(OpenedEnvelope opened) => WithLockAsync(() => Task.Run(() =>
        {
            var records = openedEnvelopes.Read() ?? new byte[0];
            var known = opened.FindIn(records);
            if (known == null)
            {
                var next = opened.AppendedTo(records);
                if (next.Length > records.Length)
                {
                    openedEnvelopes.Write(next.Length - opened.Record.Length, opened.Record);
                }
                else
                {
                    openedEnvelopes.Write(next);
                }
            }

            return known != false;
        }));

        /// <summary>
        /// A random text that only this device can decrypt. Without a folder that backups leave out, also the place of
        /// its file, which a copy has not.
        /// </summary>
        public Task<string> ReadDeviceMarkAsync() => WithLockAsync(async () =>
        {
            var known = await ReadSecretAsync(mark).ConfigureAwait(false);
            if (known == null)
            {
                known = Guid.NewGuid().ToByteArray();
                var content = await ProtectAsync(known).ConfigureAwait(false);
                await Task.Run(() => WriteMark(content)).ConfigureAwait(false);
            }

            return Base64Url.Encode(known) + place;
        });

        /// <inheritdoc/>
        public Task<bool> ClaimLockedNoticeAsync() => Task.Run(() => ClaimLockedNotice());

        private bool ClaimLockedNotice()
        {
            try
            {
                Directory.CreateDirectory(folder);
                var path = Path.Combine(folder, "locked-notice");
                using (var file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None))
                {
                    var buffer = new byte[64];
                    var text = Encoding.ASCII.GetString(buffer, 0, file.Read(buffer, 0, buffer.Length));
                    var start = startedAt();
                    var isKnown = double.TryParse(
                        text, NumberStyles.Float, CultureInfo.InvariantCulture, out var last);
                    if (isKnown && Math.Abs(last - start) < StartTolerance)
                    {
                        return false;
                    }

                    file.SetLength(0);
                    var content = Encoding.ASCII.GetBytes(start.ToString("R", CultureInfo.InvariantCulture));
                    file.Write(content, 0, content.Length);
                    return true;
                }
            }
            catch (IOException error) when (IsHeld(error))
            {
                // Another process shows it.
                return false;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return true;
            }
        }

        private static double StartOfDevice()
        {
            var clock = new SystemClientClock();
            return clock.UnixTime - ((double)Stopwatch.GetTimestamp() / Stopwatch.Frequency);
        }

        private static bool IsHeld(IOException error) =>
            error.HResult == SharingViolation || error.HResult == LockViolation;

        private static bool AreEqual(byte[] one, byte[] other)
        {
            var isEqual = one.Length == other.Length;
            for (var i = 0; isEqual && i < one.Length; i++)
            {
                isEqual = one[i] == other[i];
            }

            return isEqual;
        }

        private ClientState ReadState()
        {
            var content = state.Read();
            try
            {
                return content == null ? new ClientState() : ClientState.Decode(content);
            }
            catch (FormatException)
            {
                state.PutAside();
                return new ClientState();
            }
        }

        private async Task<byte[]> ReadSecretAsync(ProtectedFile file)
        {
            var content = await Task.Run(() => file.Read()).ConfigureAwait(false);
            if (content == null)
            {
                return null;
            }

            var plain = await Task.Run(() => protector.UnprotectAsync(content)).ConfigureAwait(false);
            if (plain == null)
            {
                file.PutAside();
            }

            return plain;
        }

        private Task<byte[]> ProtectAsync(byte[] plain) => Task.Run(() => protector.ProtectAsync(plain));

        private void WriteMark(byte[] content)
        {
            try
            {
                Directory.CreateDirectory(deviceFolder);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ClientStoreException(ClientStoreError.Unwritable);
            }

            mark.Write(content);
        }

        private Task SaveSecretAsync(ProtectedFile file, byte[] plain) => WithLockAsync(async () =>
        {
            await WriteSecretAsync(file, plain).ConfigureAwait(false);
            return true;
        });

        private async Task WriteSecretAsync(ProtectedFile file, byte[] plain)
        {
            if (plain == null)
            {
                await Task.Run(() => file.Remove()).ConfigureAwait(false);
                return;
            }

            var content = await ProtectAsync(plain).ConfigureAwait(false);
            await Task.Run(() => file.Write(content)).ConfigureAwait(false);
        }

        /// <summary>Runs work while no other process changes the files.</summary>
        private async Task<T> WithLockAsync<T>(Func<Task<T>> work)
        {
            if (!await turn.WaitAsync(LockTries * LockPause).ConfigureAwait(false))
            {
                throw new ClientStoreException(ClientStoreError.Busy);
            }

            try
            {
                for (var count = 0; count < LockTries; count++)
                {
                    using (var file = await Task.Run(() => OpenLock()).ConfigureAwait(false))
                    {
                        if (file != null)
                        {
                            return await work().ConfigureAwait(false);
                        }
                    }

                    await Task.Delay(LockPause).ConfigureAwait(false);
                }

                throw new ClientStoreException(ClientStoreError.Busy);
            }
            finally
            {
                turn.Release();
            }
        }

        /// <summary>The lock; <c>null</c> if another process has it.</summary>
        private FileStream OpenLock()
        {
            try
            {
                Directory.CreateDirectory(folder);
                return new FileStream(
                    Path.Combine(folder, "lock"), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            }
            catch (IOException error) when (IsHeld(error))
            {
                return null;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ClientStoreException(ClientStoreError.Unwritable);
            }
        }
    }
}
