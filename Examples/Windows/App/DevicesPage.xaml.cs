using System.Linq;
using System.Threading.Tasks;
using SecurePush;
using Windows.UI.Xaml;
using Windows.UI.Xaml.Navigation;

namespace SecurePushExample
{
    /// <summary>The user's devices, and the fingerprint of this one's key.</summary>
    public sealed partial class DevicesPage : SubPage
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
            list.ItemsSource = devices?.Select(RowOf).ToList();
            status.Text = devices == null ? Session.Shared.Status : "";
        }

        private async void RemoveClicked(object sender, RoutedEventArgs e)
        {
            var device = (list.SelectedItem as Row<UserDevice>)?.Value;
            if (device?.IsThisDevice == false)
            {
                await Session.Shared.RemoveDeviceAsync(device.Id);
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

        private static Row<UserDevice> RowOf(UserDevice device) => new Row<UserDevice>(
            device, (device.IsThisDevice ? "✓ " : "") + device.Platform + "   " + device.LastSeenAt?.ToString("d")
            + "   " + device.Id);
    }
}
