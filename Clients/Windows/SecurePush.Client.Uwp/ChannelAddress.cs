using System;
using System.Threading.Tasks;

namespace SecurePush.Toasts
{
    /// <summary>Gets the address of a channel of the Windows Push Notification Services.</summary>
    internal static class ChannelAddress
    {
        /// <summary>The channels of Windows have hosts of this domain.</summary>
        private const string Domain = ".notify.windows.com";

        /// <summary>Windows may not answer while it cannot reach its push service.</summary>
        private const double SecondsToOpen = 20;

        /// <summary>Opens a channel in time.</summary>
        /// <param name="open">Asks Windows.</param>
        /// <param name="address">The address of a channel.</param>
        /// <exception cref="SecurePushException">
        /// With <c>SP-OFFLINE</c>: Windows gave none, usually without a network.
        /// </exception>
        public static async Task<T> OpenAsync<T>(Func<Task<T>> open, Func<T, string> address)
        {
            try
            {
                var opening = open();
                var end = Task.Delay(TimeSpan.FromSeconds(SecondsToOpen));
                if (await Task.WhenAny(opening, end) == opening)
                {
                    var channel = await opening;
                    if (IsOfWindows(address(channel)))
                    {
                        return channel;
                    }
                }
            }
            catch (Exception)
            {
                // Windows has many errors for it; another try at the next start may succeed.
            }

            throw new SecurePushException(DiagnosticCode.Unreachable);
        }

        private static bool IsOfWindows(string uri) =>
            Uri.TryCreate(uri, UriKind.Absolute, out var address) && address.Scheme == "https"
            && address.Host.EndsWith(Domain, StringComparison.OrdinalIgnoreCase);
    }
}
