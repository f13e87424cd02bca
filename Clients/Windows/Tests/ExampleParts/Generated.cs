using Windows.UI.Xaml.Controls;

// What the XAML compiler makes of the example's pages. ExampleTests compares it with the XAML.
namespace SecurePushExample
{
    public sealed partial class App
    {
        private void InitializeComponent()
        {
        }
    }

    public sealed partial class MainPage
    {
        private TextBox userName;
        private PasswordBox password;
        private Button logIn;
        private Button sendPush;
        private Button logOut;
        private TextBlock status;

        private void InitializeComponent()
        {
            userName = new TextBox();
            password = new PasswordBox();
            logIn = new Button();
            sendPush = new Button();
            logOut = new Button();
            status = new TextBlock();
        }
    }
}
