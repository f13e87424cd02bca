package android.widget;

import android.content.Context;
import android.view.View;

/** A stand-in for tests. */
public class TextView extends View {
    private CharSequence text = "";

    public TextView(Context context) { super(context); }

    public CharSequence getText() { return text; }
    public void setText(CharSequence text) { this.text = text; }
    public void setHint(CharSequence text) { }
    private int inputType;

    public int getInputType() { return inputType; }
    public void setInputType(int type) { inputType = type; }
    public void setSingleLine(boolean value) { }
}
