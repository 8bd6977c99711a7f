# Formats a number as in documents: N significant digits, grouped thousands, no exponent. Scripts put this before a program of their own.
function format_number(x, digits,    text, whole, rest, point) {
	text = sprintf("%." digits "g", x)
	if (text ~ /e[+]/) text = sprintf("%.0f", text)
	whole = text
	rest = ""
	if ((point = index(text, "."))) {
		whole = substr(text, 1, point - 1)
		rest = substr(text, point)
	}
	while (length(whole) > 3) {
		rest = "," substr(whole, length(whole) - 2) rest
		whole = substr(whole, 1, length(whole) - 3)
	}
	return whole rest
}
