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
