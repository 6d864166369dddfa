"""Scripts that stand in pages of HTML, and components of one file: Vue's and Svelte's.

`markup` finds tags, attributes and the contents of scripts in a text, whatever it is. `scripts` gives the JavaScript
of a page to the extractor of JavaScript, without what a template's engine puts in. `component` puts a component's
script together with a function that shows it, made of its markup: `vue` and `svelte` say how each of them is written.
"""
