package android.widget;

import android.content.Context;
import android.view.View;

/** A stand-in for tests. */
public class ScrollView extends View {
    public View content;

    public ScrollView(Context context) { super(context); }

    public void addView(View view) { content = view; }
}
