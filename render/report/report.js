// SPDX-License-Identifier: BSD-3-Clause
// What a report can do beyond being read. Without it all is there: links lead to groups, lists fold.
"use strict";

function button(tools, text, action) {
	const made = document.createElement("button");
	made.type = "button";
	made.textContent = text;
	made.addEventListener("click", action);
	tools.append(made);
}

function makeTools(before) {
	const tools = document.createElement("div");
	tools.className = "tools";
	before.before(tools);
	return tools;
}

// Graphs: larger and smaller, by buttons, by + and -, and by the wheel with Ctrl; drawn along by mouse.
for (const box of document.querySelectorAll("div.graph")) {
	const svg = box.querySelector("svg"), tools = makeTools(box);
	const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
	let scale = 1, from = null;
	const zoom = (factor) => {
		scale = Math.min(8, Math.max(0.1, scale * factor));
		svg.setAttribute("width", width * scale * 4 / 3);
		svg.setAttribute("height", height * scale * 4 / 3);
	};
	const fit = () => {
		scale = 1;
		zoom(Math.min(1.25, (box.clientWidth - 20) / (width * 4 / 3)));
	};
	button(tools, "Larger", () => zoom(1.25));
	button(tools, "Smaller", () => zoom(0.8));
	button(tools, "Fit", fit);
	box.addEventListener("keydown", (event) => {
		if (event.key === "+" || event.key === "-")
			zoom(event.key === "+" ? 1.25 : 0.8);
	});
	box.addEventListener("wheel", (event) => {
		if (!event.ctrlKey)
			return;
		event.preventDefault();
		zoom(event.deltaY < 0 ? 1.1 : 0.9);
	}, { passive: false });
	box.addEventListener("pointerdown", (event) => {
		from = event.button === 0 ? [event.clientX + box.scrollLeft, event.clientY + box.scrollTop] : null;
	});
	window.addEventListener("pointermove", (event) => {
		if (from)
			box.scrollTo(from[0] - event.clientX, from[1] - event.clientY);
	});
	window.addEventListener("pointerup", () => { from = null; });
	fit();
}

// Stacks: all open or all folded.
for (const tree of document.querySelectorAll(".tree")) {
	const tools = makeTools(tree), parts = tree.querySelectorAll("details");
	button(tools, "Unfold all", () => parts.forEach((part) => { part.open = true; }));
	button(tools, "Fold all", () => parts.forEach((part) => { part.open = false; }));
}

// Groups: which one has a rank?
function holds(ranks, rank) {
	return ranks.split(",").some((range) => {
		const [first, last] = range.split("-").map(Number);
		return rank >= first && rank <= (last ?? first);
	});
}

const groups = [...document.querySelectorAll("article[data-ranks]")];
if (groups.length > 1) {
	const tools = makeTools(groups[0]), label = document.createElement("label"), input = document.createElement("input");
	input.type = "number";
	input.min = 0;
	label.append("Find rank ", input);
	tools.append(label);
	input.addEventListener("input", () => {
		const found = input.value === "" ? null :
			groups.find((group) => holds(group.dataset.ranks, Number(input.value)));
		for (const group of groups)
			group.classList.toggle("chosen", group === found);
		found?.scrollIntoView({ block: "center" });
	});
}

// On paper everything is open.
window.addEventListener("beforeprint", () => {
	for (const part of document.querySelectorAll("details"))
		part.open = true;
});
