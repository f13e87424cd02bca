using System.Linq;
using SecurePush;
using Windows.UI.Xaml;
using Windows.UI.Xaml.Controls;
using Windows.UI.Xaml.Navigation;

namespace SecurePushExample
{
    /// <summary>The user's messages, newest first. A tap opens one.</summary>
    public sealed partial class MessagesPage : Page
    {
        /// <summary>Makes the page.</summary>
        public MessagesPage()
        {
            InitializeComponent();
        }

        /// <inheritdoc/>
        protected override async void OnNavigatedTo(NavigationEventArgs e)
        {
            ScreenCover.Set(true);
            list.ItemsSource = (await Session.Shared.MessagesAsync()).Select(entry => new Row(entry)).ToList();
            status.Text = Session.Shared.Status;
        }

        /// <inheritdoc/>
        protected override void OnNavigatedFrom(NavigationEventArgs e)
        {
            list.ItemsSource = null;
            ScreenCover.Set(false);
        }

        private void MessageClicked(object sender, ItemClickEventArgs e) =>
            Frame.Navigate(typeof(MessagePage), ((Row)e.ClickedItem).Entry.Id);

        private void BackClicked(object sender, RoutedEventArgs e) => Frame.GoBack();

        /// <summary>A line of the list.</summary>
        private sealed class Row
        {
            public Row(InboxEntry entry)
            {
                Entry = entry;
            }

            public InboxEntry Entry { get; }

            /// <inheritdoc/>
            public override string ToString()
            {
                var secret = Entry.Secret;
                var text = secret?.Message?.Title ?? secret?.Text ?? Entry.Code?.ToString() ?? "…";
                return Entry.CreatedAt?.LocalDateTime.ToString("g") + (Entry.IsRead ? "   " : " • ") + text;
            }
        }
    }
}
