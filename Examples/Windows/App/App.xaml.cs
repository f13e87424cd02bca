using SecurePush.Uwp;
using Windows.ApplicationModel.Activation;
using Windows.UI.Xaml;
using Windows.UI.Xaml.Controls;

namespace SecurePushExample
{
    /// <summary>The app. A tap on a notification opens its message, and a button of one is an answer.</summary>
    public sealed partial class App : Application
    {
        /// <summary>Makes the app.</summary>
        public App()
        {
            InitializeComponent();
        }

        /// <inheritdoc/>
        protected override void OnLaunched(LaunchActivatedEventArgs e) => Open();

        /// <inheritdoc/>
        protected override async void OnActivated(IActivatedEventArgs e)
        {
            var frame = Open();
            var toast = e as ToastNotificationActivatedEventArgs;
            var answer = toast == null ? null : ToastPresenter.AnswerOf(toast.Argument, toast.UserInput);
            var id = toast == null ? null : ToastPresenter.IdOf(toast.Argument);

            // The sender may want a number that the user has to write: the page has a field for it.
            var isDone = answer != null
                && await Session.Shared.AnswerAsync(answer.Id, answer.Action, answer.Text, null);
            if (id != null && !isDone)
            {
                frame.Navigate(typeof(MessagePage), id);
            }
        }

        private static Frame Open()
        {
            var window = Window.Current;
            var frame = window.Content as Frame;
            if (frame == null)
            {
                frame = new Frame();
                window.Content = frame;
                window.Activated += async (sender, args) => await Session.Shared.BecomeActiveAsync();
            }

            if (frame.Content == null)
            {
                frame.Navigate(typeof(MainPage));
            }

            window.Activate();
            return frame;
        }
    }
}
