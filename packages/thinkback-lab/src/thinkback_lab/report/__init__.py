"""Reports: self-contained HTML files with SVG charts."""
