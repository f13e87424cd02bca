using System.Linq;
using SecurePush;
using Windows.UI.Xaml;
using Windows.UI.Xaml.Controls;
using Windows.UI.Xaml.Navigation;

namespace SecurePushExample
{
    /// <summary>One message, whole, with its actions as buttons.</summary>
    public sealed partial class MessagePage : SubPage
    {
        private PushId id;

        /// <summary>Makes the page.</summary>
        public MessagePage()
        {
            InitializeComponent();
        }

        /// <inheritdoc/>
        protected override async void OnNavigatedTo(NavigationEventArgs e)
        {
            IsPrivate = true;
            id = (PushId)e.Parameter;
            var secret = await Session.Shared.ReadAsync(id);
            var message = secret?.Message;
            heading.Text = message?.Title ?? "";

            // The link is only written: it comes from the sender, and whoever opens it has to check it.
            body.Text = (secret?.Text ?? secret?.Json ?? "") + (message?.Link == null ? "" : "\n\n" + message.Link);
            var actions = message?.Actions ?? new MessageAction[0];
            text.Visibility = actions.Any(action => action.TakesText) ? Visibility.Visible : Visibility.Collapsed;
            challenge.Visibility = actions.Count > 0 ? Visibility.Visible : Visibility.Collapsed;
            foreach (var action in actions)
            {
                var button = new Button { Content = action.Title };
                button.Click += (sender, args) => AnswerAsync(action);
                buttons.Children.Add(button);
            }

            status.Text = secret == null ? Session.Shared.Status : "";
        }

        /// <inheritdoc/>
        protected override void OnNavigatedFrom(NavigationEventArgs e)
        {
            heading.Text = body.Text = text.Text = challenge.Text = "";
            buttons.Children.Clear();
            base.OnNavigatedFrom(e);
        }

        private async void AnswerAsync(MessageAction action)
        {
            var number = challenge.Text.Trim();
            if (await Session.Shared.AnswerAsync(
                id, action.Id, action.TakesText && text.Text != "" ? text.Text : null, number == "" ? null : number))
            {
                buttons.Children.Clear();
            }

            status.Text = Session.Shared.Status;
        }
    }
}
