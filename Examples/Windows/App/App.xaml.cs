using Windows.ApplicationModel.Activation;
using Windows.UI.Xaml;
using Windows.UI.Xaml.Controls;

namespace SecurePushExample
{
    /// <summary>The app. A tap on a notification starts it too, and the page then shows what was missed.</summary>
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
        protected override void OnActivated(IActivatedEventArgs e) => Open();

        private static void Open()
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
        }
    }
}
