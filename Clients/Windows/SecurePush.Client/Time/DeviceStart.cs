using System;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;

namespace SecurePush
{
    /// <summary>
    /// Tells one start of the device from another, for <see cref="IClientClock.BootId"/>. Without an answer of the
    /// system the ID is empty, and a lease that an earlier start has left is held for as long as it lasts.
    /// </summary>
    internal static class DeviceStart
    {
        /// <summary><c>HKEY_LOCAL_MACHINE</c> of winreg.h.</summary>
        private static readonly IntPtr LocalMachine = new IntPtr(unchecked((int)0x80000002));

        /// <summary><c>RRF_RT_REG_DWORD</c> of winreg.h.</summary>
        private const uint OnlyDword = 0x10;
        private const string Key =
            @"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters";
        private static readonly Lazy<string> Known = new Lazy<string>(Read);

        public static string Id => Known.Value;

        private static string Read()
        {
            try
            {
                return RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? OfWindows() : OfLinux();
            }
            catch (Exception)
            {
                // The registry may be closed to the app, and other systems have no such file.
                return "";
            }
        }

        /// <summary>Windows counts its starts there.</summary>
        private static string OfWindows()
        {
            uint size = sizeof(uint);
            return RegGetValue(LocalMachine, Key, "BootId", OnlyDword, IntPtr.Zero, out var count, ref size) == 0
                ? count.ToString(CultureInfo.InvariantCulture)
                : "";
        }

        private static string OfLinux() =>
            Guid.TryParse(File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim(), out var id)
                ? id.ToString("N")
                : "";

        [DllImport("advapi32.dll", EntryPoint = "RegGetValueW", CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern int RegGetValue(
            IntPtr key, string subKey, string value, uint flags, IntPtr type, out uint data, ref uint size);
    }

    /// <summary>The name of a process in leases and claims: the start of the device, and a random ID.</summary>
    internal static class ProcessName
    {
        public static string New(IClientClock clock) => clock.BootId + "/" + Guid.NewGuid();

        /// <summary>Whether two processes are of the same start of the device, as far as that is known.</summary>
        public static bool AreOfOneStart(string one, string other) => Start(one) == Start(other);

        /// <summary>The names of older versions have no start.</summary>
        private static string Start(string name) => name.Substring(0, Math.Max(0, name.IndexOf('/')));
    }
}
