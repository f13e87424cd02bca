package android.text;

/** A stand-in for tests. */
public interface InputType {
    int TYPE_CLASS_TEXT = 1;
    int TYPE_TEXT_VARIATION_PASSWORD = 0x80;
    int TYPE_TEXT_FLAG_NO_SUGGESTIONS = 0x80000;
}
