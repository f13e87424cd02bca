using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>
    /// Receives two pushes in a process of its own, with the real transport and store, and prints what memory the
    /// second one took. <c>MemoryTests</c> starts it.
    /// </summary>
    public static class Program
    {
        /// <summary>The arguments are the address, the folder of the store, and the two IDs.</summary>
        public static int Main(string[] arguments)
        {
            var screen = new LengthPresenter();
            var client = new SecurePushClient(
                new SecurePushConfiguration(new Uri(arguments[0])),
                new FixedCredentialsProvider("alice", ClientCredentials.Bearer("token")),
                new FileClientStore(arguments[1], new DpapiProtector()), new HttpClientTransport(), screen, null,
                new LibCrypto());

            // The runtime needs its memory once; the first wake is not measured.
            Receive(client, arguments[2]);
            var heap = GC.GetTotalMemory(true);
            var before = Kibibytes("VmRSS");
            File.WriteAllBytes("/proc/self/clear_refs", Encoding.ASCII.GetBytes("5"));
            var shown = Receive(client, arguments[3]);
            var peak = Kibibytes("VmHWM");
            heap = GC.GetTotalMemory(true) - heap;
            Console.WriteLine(string.Join(" ", shown, screen.Length, before, peak - before, heap / 1024));
            return 0;
        }

        private static int Receive(SecurePushClient client, string id) =>
            client.HandleAsync(IncomingPush.FromRaw(id)).Result.Shown.Count;

        /// <summary>
        /// VmRSS is what is resident now, VmHWM its peak since the reset (proc_pid_status(5), proc_pid_clear_refs(5)).
        /// </summary>
        private static int Kibibytes(string name)
        {
            var lines = File.ReadLines("/proc/self/status");
            var line = lines.First(text => text.StartsWith(name, StringComparison.Ordinal));
            return int.Parse(string.Concat(line.Where(char.IsDigit)));
        }

        /// <summary>Keeps the length of the last secret and nothing else, like a system that copies it away.</summary>
        private sealed class LengthPresenter : INotificationPresenter
        {
            public int Length { get; private set; }

            public Task ShowAsync(SecretNotification secret)
            {
                Length = secret.Text.Length;
                return Task.FromResult(true);
            }

            public Task ShowAsync(GenericNotice notice) => Task.FromResult(true);

            public Task ShowAsync(LogInPrompt prompt) => Task.FromResult(true);

            public Task RemoveAsync(IReadOnlyCollection<PushId> ids) => Task.FromResult(true);

            public Task RemovePromptAsync() => Task.FromResult(true);

            public Task RemoveAllAsync() => Task.FromResult(true);

            public Task SetBadgeAsync(int count) => Task.FromResult(true);

            public Task<ISet<PushId>> DisplayedSecretsAsync() => Task.FromResult<ISet<PushId>>(null);
        }
    }
}
