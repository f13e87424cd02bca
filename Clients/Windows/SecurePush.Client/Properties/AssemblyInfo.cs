using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("SecurePush.Tests")]
