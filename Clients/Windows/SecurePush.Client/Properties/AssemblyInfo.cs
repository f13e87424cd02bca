using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("SecurePush.Tests")]
[assembly: InternalsVisibleTo("SecurePush.Client.Uwp")]
[assembly: InternalsVisibleTo("SecurePush.Client.WindowsApp")]
