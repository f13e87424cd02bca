using System.Linq;
using SecurePush;
using Windows.UI.Xaml.Controls;
using Windows.UI.Xaml.Navigation;

namespace SecurePushExample
{
    /// <summary>The user's messages, newest first. A tap opens one.</summary>
    public sealed partial class MessagesPage : SubPage
    {
        /// <summary>Makes the page.</summary>
        public MessagesPage()
        {
            InitializeComponent();
        }

        /// <inheritdoc/>
        protected override async void OnNavigatedTo(NavigationEventArgs e)
        {
            IsPrivate = true;
            list.ItemsSource = (await Session.Shared.MessagesAsync()).Select(RowOf).ToList();
            status.Text = Session.Shared.Status;
        }

        /// <inheritdoc/>
        protected override void OnNavigatedFrom(NavigationEventArgs e)
        {
            list.ItemsSource = null;
            base.OnNavigatedFrom(e);
        }

        private void MessageClicked(object sender, ItemClickEventArgs e) =>
            Frame.Navigate(typeof(MessagePage), ((Row<InboxEntry>)e.ClickedItem).Value.Id);

        private static Row<InboxEntry> RowOf(InboxEntry entry)
        {
            var text = entry.Secret?.Message?.Title ?? entry.Secret?.Text ?? entry.Code?.ToString() ?? "…";
            return new Row<InboxEntry>(
                entry, entry.CreatedAt?.LocalDateTime.ToString("g") + (entry.IsRead ? "   " : " • ") + text);
        }
    }
}
