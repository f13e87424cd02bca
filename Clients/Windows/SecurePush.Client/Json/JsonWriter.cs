using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace SecurePush
{
    /// <summary>Writes the members of one JSON object. Members that are <c>null</c> are left out.</summary>
    internal sealed class JsonWriter
    {
        private readonly StringBuilder json = new StringBuilder("{");

        public JsonWriter Text(string name, string value)
        {
            if (value != null)
            {
                JsonText.Append(Name(name), value);
            }

            return this;
        }

        public JsonWriter Number(string name, double? value)
        {
            if (value != null)
            {
                Name(name).Append(value.Value.ToString("R", CultureInfo.InvariantCulture));
            }

            return this;
        }

        public JsonWriter List(string name, IEnumerable<string> values)
        {
            JsonText.Append(Name(name), values);
            return this;
        }

        /// <summary>The object in UTF-8.</summary>
        public byte[] Bytes() => Encoding.UTF8.GetBytes(ToString());

        public override string ToString() => json + "}";

        private StringBuilder Name(string name)
        {
            json.Append(json.Length > 1 ? "," : "");
            JsonText.Append(json, name);
            return json.Append(':');
        }
    }
}
