"""Optimised models are called like functions, saved and loaded."""
import threading

import numpy as np
from support import InFolder, torch_or_skip, zoo

import viridian


class Optimize(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.onnx = zoo("small_cnn", str(cls.folder / "net.onnx"))
        cls.database = str(cls.folder / "cost.db")
        cls.said = []
        cls.net = viridian.optimize(cls.onnx, objective="energy", budget="20,5s", threads=1, cost_database=cls.database,
                                    progress=cls.said.append)
        cls.original = viridian.InferenceSession(cls.onnx, threads=1)
        port, = cls.net.inputs
        cls.name, cls.x = port.name, np.random.default_rng(2).standard_normal(port.shape).astype(np.float32)

    def check(self, net):
        wanted, = self.original.run(None, {self.name: self.x})
        np.testing.assert_allclose(net(self.x), wanted, rtol=1e-3, atol=1e-4)

    def test_the_result_is_called(self):
        self.check(self.net)
        np.testing.assert_array_equal(self.net(self.x), self.net(**{self.name: self.x}))
        self.assertTrue(self.said)
        with self.assertRaisesRegex(viridian.InputError, "got 2 inputs"):
            self.net(self.x, self.x)

    def test_it_says_what_was_gained(self):
        self.assertAlmostEqual(self.net.speedup, self.net.seconds_before / self.net.seconds_after)
        for energy in (self.net.energy_before, self.net.energy_after):
            self.assertTrue(0 < energy.low <= energy.joules <= energy.high and energy.provenance)
        self.assertIn("equal to the original", str(self.net))
        self.assertIn("<iframe srcdoc=", self.net._repr_html_())
        self.assertIn('"viridian.optimize/1"', self.net.json())

    def test_it_is_saved_and_loaded(self):
        self.net.save(self.path("out.onnx"))
        for name in ("out.onnx", "out.plan.json"):
            self.check(viridian.load(self.path(name), threads=1))
        self.check(self.net)  # saving has not taken the plan away
        with self.assertRaises(viridian.InputError):
            self.net.save(self.path("out.txt"))

    def test_eight_threads_call_one_plan(self):
        inputs = [self.x * i for i in range(8)]
        wanted, got = [self.net(x) for x in inputs], [None] * 8

        def work(i):
            for _ in range(20):
                got[i] = self.net(inputs[i])

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        for a, b in zip(wanted, got):
            np.testing.assert_array_equal(a, b)

    def test_progress_may_end_the_search(self):
        def stop(_text):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            viridian.optimize(self.onnx, threads=1, cost_database="", progress=stop)

    def test_errors_are_in_the_words_of_python(self):
        with self.assertRaisesRegex(viridian.InputError, "objective|speed"):
            viridian.optimize(self.onnx, objective="speed")
        with self.assertRaisesRegex(viridian.InputError, "no model"):
            viridian.optimize(3)


class Module(InFolder):
    def test_a_module_of_torch_becomes_a_plan(self):
        torch = torch_or_skip()
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
                                  torch.nn.Linear(8 * 36, 10))
        net.train()
        x = torch.randn(2, 3, 8, 8)
        with self.assertRaisesRegex(viridian.InputError, "example_inputs"):
            viridian.optimize(net)
        plan = viridian.optimize(net, example_inputs=(x,), budget="20,5s", threads=1, cost_database="")
        self.assertTrue(net.training)
        net.eval()
        y = plan(x)
        self.assertIsInstance(y, torch.Tensor)
        torch.testing.assert_close(y, net(x).detach(), rtol=1e-3, atol=1e-4)
        self.assertIsInstance(plan(x.numpy()), np.ndarray)


class Sizes(InFolder):
    """One result for several sizes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torch = torch = torch_or_skip()
        torch.manual_seed(0)
        cls.module = torch.nn.Sequential(torch.nn.Linear(12, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)).eval()
        cls.examples = [torch.randn(1, 12), torch.randn(4, 12), (torch.randn(9, 12),)]
        cls.options = {"budget": "10,2s", "threads": 1, "cost_database": str(cls.folder / "cost.db")}
        cls.net = viridian.optimize(cls.module, example_inputs=cls.examples, **cls.options)

    def check(self, net):
        for rows in (4, 1, 9, 1):
            x = self.torch.randn(rows, 12)
            self.torch.testing.assert_close(net(x), self.module(x).detach(), rtol=1e-4, atol=1e-5)
            self.assertIsInstance(net(x.numpy()), np.ndarray)
            name, = net.sizes[0]
            self.torch.testing.assert_close(net(**{name: x}), net(x))
        self.assertEqual([list(one.values()) for one in net.sizes], [[(1, 12)], [(4, 12)], [(9, 12)]])
        there = r"no plan was made for \w+ \[5, 12\].* \[1, 12\]; \w+ \[4, 12\]; \w+ \[9, 12\]"
        with self.assertRaisesRegex(viridian.InputError, there):
            net(self.torch.randn(5, 12))
        with self.assertRaisesRegex(viridian.InputError, "no plan was made for .* without a shape"):
            net([[0.0] * 12])
        with self.assertRaisesRegex(viridian.InputError, "got 2 inputs"):
            net(self.torch.randn(1, 12), 1)

    def test_the_plan_of_the_size_is_called(self):
        self.assertIsInstance(self.net, viridian.OptimizedSizes)
        self.check(self.net)
        self.assertEqual(len(self.net.speedups), 3)
        self.assertEqual(str(self.net).count("equal to the original"), 3)
        self.assertEqual(self.net._repr_html_().count("<iframe srcdoc="), 3)
        self.assertIs(self.net.plan_for(self.torch.randn(4, 12)), self.net.plans[1])

    def test_it_is_saved_and_loaded(self):
        folder = self.path("sizes")
        self.net.save(folder)
        self.check(viridian.load(folder, threads=1))
        self.net.save(folder)  # again
        self.check(viridian.load(folder, threads=1))
        with self.assertRaisesRegex(viridian.InputError, "exists and holds no sizes"):
            self.net.save(str(self.folder))
        with open(self.path("sizes/sizes.json"), "w", encoding="utf-8") as file:
            file.write('{"schema": "viridian.sizes/1", "models": ["../x.onnx"]}')
        with self.assertRaisesRegex(viridian.InputError, "not the list of a folder of sizes"):
            viridian.load(folder)

    def test_examples_bind_the_free_dimensions_of_a_model(self):
        torch, path = self.torch, self.path("free.onnx")
        import inspect
        options = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
        torch.onnx.export(self.module, (torch.randn(2, 12),), path, input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, **options)
        one = viridian.optimize(path, example_inputs=np.zeros((2, 12), np.float32), **self.options)
        self.assertEqual(one.inputs[0].shape, [2, 12])
        net = viridian.optimize(path, example_inputs=[np.zeros((rows, 12), np.float32) for rows in (1, 4, 9)], **self.options)
        self.check(net)
        with self.assertRaisesRegex(viridian.InputError, r"the example of the input `x` has the shape \(2, 11\)"):
            viridian.optimize(path, example_inputs=[np.zeros((2, 11), np.float32)], **self.options)
        with self.assertRaisesRegex(viridian.InputError, "takes 1 inputs, and an example has 2"):
            viridian.optimize(path, example_inputs=[(1, 2)], **self.options)

    def test_lists_without_sense_are_refused(self):
        with self.assertRaisesRegex(viridian.InputError, "list of example inputs is empty"):
            viridian.optimize(self.module, example_inputs=[])
        with self.assertRaisesRegex(viridian.InputError, r"two examples have the same sizes: \w+ \[4, 12\]"):
            viridian.optimize(self.module, example_inputs=[self.examples[1]] * 2, **self.options)
