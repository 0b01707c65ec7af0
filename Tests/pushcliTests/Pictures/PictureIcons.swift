/// The icons of the apps in the pictures, as drawings: the viewer's emoji may differ or be missing.
///
/// Each has 18 by 18 units, the size of two cells, and is visible on dark and on light backgrounds.
enum PictureIcons {
  static let shapes: [Character: String] = [
    "📰": """
    <path d="M2 3h11v10.5a1.5 1.5 0 0 0 1.5 1.5h-11a1.5 1.5 0 0 1-1.5-1.5z" fill="#f6f8fa" stroke="#6e7781"/>\
    <path d="M13 6h2.5v7.5a1.25 1.25 0 0 1-2.5 0z" fill="#afb8c1" stroke="#6e7781"/>\
    <path d="M4 5.5h7" stroke="#24292f" stroke-width="1.5" fill="none"/>\
    <path d="M4 8h3v4h-3z" fill="#54aeff"/><path d="M8.5 8.5h2.5m-2.5 1.5h2.5m-2.5 1.5h2.5" stroke="#8c959f" fill="none"/>
    """,
    "📬": """
    <path d="M8 11h2v5.5h-2z" fill="#9a6700"/>\
    <path d="M5 4h7.5a3.5 3.5 0 0 1 3.5 3.5v4.5h-11z" fill="#218bff"/>\
    <path d="M5 4a3.5 3.5 0 0 1 3.5 3.5v4.5h-7v-4.5a3.5 3.5 0 0 1 3.5-3.5z" fill="#0550ae"/>\
    <path d="M2.5 7h5v3.5h-5z" fill="#f6f8fa"/><path d="M2.5 7l2.5 2l2.5-2" fill="none" stroke="#8c959f" stroke-width=".8"/>\
    <path d="M11.5 8v-6h3v2h-2v4z" fill="#fa4549"/>
    """,
    "🚆": """
    <path d="M4.5 16.5l1.5-2.5m7.5 2.5l-1.5-2.5m-7 1.5h8" stroke="#8c959f" stroke-width="1.3" fill="none"/>\
    <rect x="3.5" y="1.5" width="11" height="13" rx="3" fill="#2da44e"/>\
    <path d="M5 4.5a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v3.5h-8z" fill="#ddf4ff"/><path d="M3.5 9.5h11v1h-11z" fill="#f6f8fa"/>\
    <circle cx="6" cy="12.3" r="1" fill="#fae17d"/><circle cx="12" cy="12.3" r="1" fill="#fae17d"/>
    """,
    "🔨": """
    <path d="M2.5 14.3l7-7l1.8 1.8l-7 7a1.27 1.27 0 0 1-1.8-1.8z" fill="#bc8c4f"/>\
    <path d="M6.8 4.5l2.7-2.7c2.6-.3 4.7.6 6.3 2.6l-1.2 1.3l1.6 1.6l-2.6 2.6l-1.6-1.6l-1 1l-2.3-2.3l.6-.6z" \
    fill="#8c959f"/>
    """,
    "⛅": """
    <circle cx="7" cy="6.5" r="3.2" fill="#eac54f"/>\
    <path d="M7 .8v1.4m-4-.2l1 1m-2.8 3h1.4m8.2-4l-1 1" stroke="#d4a72c" stroke-width="1.2" fill="none"/>\
    <path d="M6 15.5a3 3 0 0 1-.4-5.97a4 4 0 0 1 7.6-.7a3.35 3.35 0 0 1 .3 6.67z" fill="#d0d7de" stroke="#8c959f" \
    stroke-width=".7"/>
    """,
  ]
}
