using System;
using Windows.UI.Core;
using Windows.UI.Xaml;
using Windows.UI.Xaml.Controls;

namespace SecurePushExample
{
    /// <summary>
    /// The tutorial's screen: user name, password, "Log in" and "Send push"; and the ways to the other pages.
    /// </summary>
    public sealed partial class MainPage : Page
    {
        /// <summary>Makes the page.</summary>
        public MainPage()
        {
            InitializeComponent();
            Session.Shared.Changed += OnChanged;
            Update();
        }

        private async void LogInClicked(object sender, RoutedEventArgs e)
        {
            await Session.Shared.LogInAsync(userName.Text, password.Password);
            password.Password = "";
        }

        private async void SendPushClicked(object sender, RoutedEventArgs e) => await Session.Shared.SendPushAsync();

        private void MessagesClicked(object sender, RoutedEventArgs e) => Frame.Navigate(typeof(MessagesPage));

        private void DevicesClicked(object sender, RoutedEventArgs e) => Frame.Navigate(typeof(DevicesPage));

        private async void LogOutClicked(object sender, RoutedEventArgs e) => await Session.Shared.LogOutAsync();

        private async void OnChanged() => await Dispatcher.RunAsync(CoreDispatcherPriority.Normal, Update);

        private void Update()
        {
            var session = Session.Shared;
            logIn.IsEnabled = !session.IsLoggedIn;
            sendPush.IsEnabled = session.IsLoggedIn;
            messages.IsEnabled = session.IsLoggedIn;
            devices.IsEnabled = session.IsLoggedIn;
            logOut.IsEnabled = session.IsLoggedIn;
            status.Text = session.Status;
        }
    }
}
