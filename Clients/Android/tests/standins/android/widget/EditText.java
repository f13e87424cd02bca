package android.widget;

import android.content.Context;

/** A stand-in for tests. */
public class EditText extends TextView {
    public EditText(Context context) { super(context); }
}
