using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Xml.Linq;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>The example's files agree with each other, as far as that can be seen without Visual Studio.</summary>
    [TestFixture]
    public sealed class ExampleTests
    {
        private const BindingFlags Own = BindingFlags.Instance | BindingFlags.NonPublic;
        private const string Folder = "../../../Examples/Windows/";
        private static readonly XNamespace X = "http://schemas.microsoft.com/winfx/2006/xaml";

        private static Dictionary<string, string> Texts(string language) =>
            XDocument.Load(Folder + "App/Strings/" + language + "/Resources.resw").Descendants("data")
                .ToDictionary(data => (string)data.Attribute("name"), data => (string)data.Element("value"));

        [TestCase("MainPage", 8)]
        [TestCase("MessagesPage", 2)]
        [TestCase("MessagePage", 6)]
        [TestCase("DevicesPage", 3)]
        public void APageHasTheFieldsAndHandlersOfItsXaml(string name, int count)
        {
            var page = Assembly.LoadFrom("App.dll").GetType("SecurePushExample." + name);
            var xaml = XDocument.Load(Folder + "App/" + name + ".xaml");
            Assert.That((string)xaml.Root.Attribute(X + "Class"), Is.EqualTo(page.FullName));
            var project = File.ReadAllText(Folder + "App/App.csproj");
            Assert.That(project, Is.StringContaining("\"" + name + ".xaml\""));
            Assert.That(project, Is.StringContaining("\"" + name + ".xaml.cs\""));
            var named = xaml.Descendants().Where(element => element.Attribute(X + "Name") != null).ToList();
            foreach (var element in named)
            {
                var field = page.GetField((string)element.Attribute(X + "Name"), Own);
                Assert.That(field?.FieldType.Name, Is.EqualTo(element.Name.LocalName));
            }

            foreach (var element in xaml.Descendants())
            {
                var click = (string)element.Attribute("Click") ?? (string)element.Attribute("ItemClick");
                Assert.That(click == null || page.GetMethod(click, Own) != null, click);
            }

            Assert.That(named, Has.Count.EqualTo(count));
            var texts = Texts("en").Keys.Select(key => key.Split('.')[0]).ToList();
            foreach (var uid in xaml.Descendants().Select(element => (string)element.Attribute(X + "Uid")))
            {
                Assert.That(uid == null || texts.Contains(uid), uid);
            }
        }

        [Test]
        public void TheManifestDeclaresTheBackgroundTask()
        {
            var manifest = XDocument.Load(Folder + "App/Package.appxmanifest");
            var extension = manifest.Descendants().Single(element => element.Name.LocalName == "Extension");
            Assert.That((string)extension.Attribute("Category"), Is.EqualTo("windows.backgroundTasks"));
            Assert.That(
                (string)extension.Descendants().Single(element => element.Name.LocalName == "Task").Attribute("Type"),
                Is.EqualTo("pushNotification"));
            var task = Assembly.LoadFrom("PushTask.dll").GetType((string)extension.Attribute("EntryPoint"));
            Assert.That(typeof(Windows.ApplicationModel.Background.IBackgroundTask).IsAssignableFrom(task));
            Assert.That(task.IsSealed && task.IsPublic);
            foreach (var image in manifest.Descendants().SelectMany(element => element.Attributes())
                .Select(attribute => attribute.Value).Where(value => value.StartsWith("Assets")))
            {
                Assert.That(File.Exists(Folder + "App/" + image.Replace('\\', '/')), image);
            }
        }

        [Test]
        public void TheTextsAreThereInBothLanguages()
        {
            var english = Texts("en");
            Assert.That(Texts("de").Keys, Is.EquivalentTo(english.Keys));
            var keys = new ClientTexts();
            foreach (var key in new[] { keys.Generic, keys.LogIn })
            {
                Assert.That(english[key], Is.StringContaining("{0}"));
                Assert.That(Texts("de")[key], Is.StringContaining("{0}"));
            }

            Assert.That(english.ContainsKey(keys.Locked) && english.ContainsKey(keys.InApp));
            var source = File.ReadAllText(Folder + "App/Session.cs");
            foreach (var key in english.Keys.Where(key => key.StartsWith("Status")))
            {
                Assert.That(source, Is.StringContaining('"' + key + '"'));
            }
        }
    }
}
