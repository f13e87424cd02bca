using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;

namespace SecurePush.Tests
{
    /// <summary>The test vectors that all SDKs run (<c>Clients/vectors</c>).</summary>
    public static class VectorFile
    {
        /// <summary>The cases of a file.</summary>
        public static List<Dictionary<string, object>> Cases(string name, string member = "cases")
        {
            var folder = Environment.GetEnvironmentVariable("SECUREPUSH_VECTORS") ?? "../../vectors";
            var file = Object(Tree(JsonValue.Parse(File.ReadAllBytes(Path.Combine(folder, name)))));
            return List(file[member]).Select(Object).ToList();
        }

        public static Dictionary<string, object> Object(object value) => (Dictionary<string, object>)value;

        public static List<object> List(object value) => (List<object>)value;

        /// <summary>A value as objects, lists, texts, numbers, truth values and <c>null</c>.</summary>
        internal static object Tree(JsonValue value)
        {
            if (value.IsObject)
            {
                return value.Members().ToDictionary(member => member.Key, member => Tree(member.Value));
            }

            if (value.IsArray)
            {
                return value.Elements(int.MaxValue).Select(Tree).ToList();
            }

            switch (value.Json())
            {
                case "null":
                    return null;
                case "true":
                    return true;
                case "false":
                    return false;
                default:
                    return value.IsString ? value.Text() : (object)value.Number();
            }
        }

        /// <summary>A text that is the same for the same value.</summary>
        public static string Canonical(object value)
        {
            if (value is Dictionary<string, object> members)
            {
                var sorted = members.OrderBy(member => member.Key, StringComparer.Ordinal);
                return "{" + string.Join(
                    ",", sorted.Select(member => Canonical(member.Key) + ":" + Canonical(member.Value))) + "}";
            }

            if (value is List<object> list)
            {
                return "[" + string.Join(",", list.Select(Canonical)) + "]";
            }

            if (value is string text)
            {
                var json = new StringBuilder();
                JsonText.Append(json, text);
                return json.ToString();
            }

            return value == null ? "null"
                : value is bool ? value.ToString().ToLowerInvariant() : Convert.ToDouble(value).ToString("R");
        }

        /// <summary>The bytes of a JSON text of the value.</summary>
        public static byte[] Bytes(object value) => Encoding.UTF8.GetBytes(Canonical(value));
    }
}
