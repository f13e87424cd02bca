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
        private Button messages;
        private Button devices;
        private Button logOut;
        private TextBlock status;

        private void InitializeComponent()
        {
            userName = new TextBox();
            password = new PasswordBox();
            logIn = new Button();
            sendPush = new Button();
            messages = new Button();
            devices = new Button();
            logOut = new Button();
            status = new TextBlock();
        }
    }

    public sealed partial class MessagesPage
    {
        private ListView list;
        private TextBlock status;

        private void InitializeComponent()
        {
            list = new ListView();
            status = new TextBlock();
        }
    }

    public sealed partial class MessagePage
    {
        private TextBlock heading;
        private TextBlock body;
        private TextBox text;
        private TextBox challenge;
        private StackPanel buttons;
        private TextBlock status;

        private void InitializeComponent()
        {
            heading = new TextBlock();
            body = new TextBlock();
            text = new TextBox();
            challenge = new TextBox();
            buttons = new StackPanel();
            status = new TextBlock();
        }
    }

    public sealed partial class DevicesPage
    {
        private TextBlock fingerprint;
        private ListView list;
        private TextBlock status;

        private void InitializeComponent()
        {
            fingerprint = new TextBlock();
            list = new ListView();
            status = new TextBlock();
        }
    }
}
