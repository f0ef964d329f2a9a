// Text from outside on its way into a web page.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>

namespace rota::report {

// For element content and quoted attributes: & < > " ' become entities; bytes that are not UTF-8, and control
// characters, become U+FFFD.
std::string html_text(std::string_view text);

// For JSON inside <script>: every < becomes \u003c, so that nothing in it can end the element.
std::string script_json(std::string json);

// What stands for each {{name}} of a page template.
using Parts = std::map<std::string_view, std::function<void(std::ostream&)>>;

// Writes the text with every {{name}} replaced. A name without a part is a defect.
void fill(std::ostream& out, std::string_view text, const Parts& parts);

}  // namespace rota::report
