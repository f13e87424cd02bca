using System.Linq;
using System.Threading.Tasks;
using SecurePush;
using Windows.UI.Xaml;
using Windows.UI.Xaml.Controls;
using Windows.UI.Xaml.Navigation;

namespace SecurePushExample
{
    /// <summary>The user's devices, and the fingerprint of this one's key.</summary>
    public sealed partial class DevicesPage : Page
    {
        /// <summary>Makes the page.</summary>
        public DevicesPage()
        {
            InitializeComponent();
        }

        /// <inheritdoc/>
        protected override async void OnNavigatedTo(NavigationEventArgs e)
        {
            fingerprint.Text = await Session.Shared.FingerprintAsync();
            await UpdateAsync();
        }

        private async Task UpdateAsync()
        {
            var devices = await Session.Shared.DevicesAsync();
            list.ItemsSource = devices?.Select(device => new Row(device)).ToList();
            status.Text = devices == null ? Session.Shared.Status : "";
        }

        private async void RemoveClicked(object sender, RoutedEventArgs e)
        {
            var row = list.SelectedItem as Row;
            if (row != null && !row.Device.IsThisDevice)
            {
                await Session.Shared.RemoveDeviceAsync(row.Device.InstallationId);
                await UpdateAsync();
            }
        }

        private async void SignOutClicked(object sender, RoutedEventArgs e)
        {
            await Session.Shared.SignOutEverywhereAsync();
            if (!Session.Shared.IsLoggedIn)
            {
                Frame.GoBack();
            }

            status.Text = Session.Shared.Status;
        }

        private void BackClicked(object sender, RoutedEventArgs e) => Frame.GoBack();

        /// <summary>A line of the list.</summary>
        private sealed class Row
        {
            public Row(UserDevice device)
            {
                Device = device;
            }

            public UserDevice Device { get; }

            /// <inheritdoc/>
            public override string ToString() =>
                (Device.IsThisDevice ? "✓ " : "") + Device.Platform + "   " + Device.LastSeenAt?.ToString("d")
                + "   " + Device.InstallationId;
        }
    }
}
